/** The page of the list: open it in two windows; close either, and the cards stay. */

import { join } from 'holdfast'
import { render } from 'preact'
import { Card, List } from './list.tsx'

const session = await join({ game: 'cards', types: [Card] })
render(<List session={session} />, document.querySelector('#page')!)
