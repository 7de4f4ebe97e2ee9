#!/usr/bin/env node
/** The `holdfast` command. */

import { readFileSync } from 'node:fs'
import { addDiverge } from './diverge.ts'
import { addMailbox } from './mailbox.ts'
import { runProgram } from './program.ts'
import { addServe } from './serve/serve.ts'
import { addRooms } from './rooms.ts'
import { addTicket } from './ticket.ts'

// The package's own manifest, three folders above the built command.
const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')
const { version } = JSON.parse(text) as { version: string }

await runProgram('holdfast', [addServe, addRooms, addTicket, addMailbox, addDiverge], version)
