/** The claims of the objects' model: those of docs/protocols/objects.md. */

import type { PeerId } from '../../packages/holdfast/src/machine.ts'
import type { Model } from '../../packages/sim/src/checker/checker.ts'
import { type Face, type Faces, is, isIt, trait, TRAITS, versionOf } from './objects-faces.ts'
import * as notes from './objects-notes.ts'
import { faceIn, type Scene, type Scope, type Tables, worldIn } from './objects-tables.ts'
import { has, incsOf } from './objects-worlds.ts'

/** Claims about states. */
export type Claims = Record<string, (scene: Scene) => true | string>

/** What holds in every state. */
export function always(tables: Tables): Claims {
  const { notes: all, place } = tables
  return {
    'obj.forward': (scene) => {
      const broken = scene[place.broken]!
      return broken === notes.NOTHING || all.broken.values[broken]!
    },
    'obj.unique': (scene) => unique(tables, scene),
    'obj.truth': (scene) => truth(tables, scene),
    'request.one': (scene) => one(tables, scene),
  }
}

/** What holds when all is told. */
export function settled(tables: Tables): Claims {
  return {
    'obj.converge': (scene) => converge(tables, scene),
    'obj.seen': (scene) => seen(tables, scene),
    'request.ends': (scene) => ends(tables, scene),
  }
}

function unique(tables: Tables, scene: Scene): true | string {
  const { faces, place, members } = tables
  const { up } = worldIn(tables, scene)
  for (let inc = 2; inc <= members; inc++) {
    const own = scene[place.peer + inc - 1]!
    if (!isIt(faces, own, is.owns) || !has(up, inc)) continue
    const rank = faces.traits[own * TRAITS + trait.rank]
    for (let other = 1; other < inc; other++) {
      const theirs = scene[place.peer + other - 1]!
      if (!isIt(faces, theirs, is.owns) || !has(up, other)) continue
      if (faces.traits[theirs * TRAITS + trait.rank] !== rank) continue
      return `${other} and ${inc} both own version ${versionOf(faces.all[own]!)}`
    }
  }
  return true
}

// Whoever believes that a peer has something is right, or the peer has something newer.
function truth(tables: Tables, scene: Scene): true | string {
  const { faces, place, members, notes: all } = tables
  const { up } = worldIn(tables, scene)
  const history = all.histories.values[scene[place.history]!]!
  for (let inc = 1; inc <= members; inc++) {
    const own = scene[place.peer + inc - 1]!
    if (!isIt(faces, own, is.alive) || !has(up, inc)) continue
    if (isIt(faces, own, is.believes)) {
      const fault = misled(tables, scene, inc, own)
      if (fault !== null) return fault
    }
    if (isIt(faces, own, is.owns)) continue
    const oseq = faces.traits[own * TRAITS + trait.oseq]!
    const told = history[oseq] ?? -1
    if (told < 0 || told === faces.traits[own * TRAITS + trait.fields]) continue
    const { fields } = faces.all[own]!
    return `${inc} has ${fields} at oseq ${oseq}, its owner had ${faces.fields[told]}`
  }
  return true
}

function misled(tables: Tables, scene: Scene, inc: PeerId, own: number): string | null {
  const { faces, place, members } = tables
  const { traits } = faces
  const { up } = worldIn(tables, scene)
  for (let peer = 1; peer <= members; peer++) {
    const acked = traits[own * TRAITS + trait.acked + peer]!
    if (acked < 0 || !has(up, peer)) continue
    const theirs = scene[place.peer + peer - 1]!
    if (!lacks(faces, own, acked, theirs)) continue
    const fault = lackOf(faces.all[own]!, faces.all[theirs]!)
    return `${inc} believes that ${peer} has oseq ${acked}: ${fault}`
  }
  return null
}

function lacks({ traits }: Faces, own: number, acked: number, theirs: number): boolean {
  const at = theirs * TRAITS
  if ((traits[at]! & is.alive) === 0) return (traits[at]! & is.there) === 0
  const newer = traits[at + trait.rank]! - traits[own * TRAITS + trait.rank]!
  return newer < 0 || (newer === 0 && traits[at + trait.oseq]! < acked)
}

function lackOf(own: Face, theirs: Face): string {
  if (!theirs.own) return 'it has nothing'
  return own.rank > theirs.rank
    ? `it has version ${versionOf(theirs)}`
    : `it has ${theirs.own.oseq}`
}

// Of all who ask about one version one at most is told that it is granted.
function one({ notes: all, place }: Tables, scene: Scene): true | string {
  const number = scene[place.granted]!
  if (number === notes.NOTHING) return true
  for (const [version, granted] of all.granted.values[number]!) {
    if (granted.length > 1) {
      return `of version ${version} ${granted.join(' and ')} were told granted`
    }
  }
  return true
}

function here(tables: Tables, scene: Scene): PeerId[] {
  const { term, up } = worldIn(tables, scene)
  return incsOf(term.members & up)
}

function converge(tables: Tables, scene: Scene): true | string {
  const { hides } = tables.scope
  const members = here(tables, scene)
  const faces = members.map((inc) => faceIn(tables, scene, inc))
  // Who never might see it knows nothing of it.
  const seen = faces.map(({ me, own, standing }) => (me === hides && !own ? 'hidden' : standing))
  const views = new Set(seen.filter((view) => view !== 'hidden'))
  if (views.size > 1) {
    return `they differ: ${members.map((inc, i) => `${inc} ${seen[i]}`).join('; ')}`
  }
  const first = faces.find(({ own }) => own && !own.hidden)?.own
  if (!first || first.dead) return true
  if (!members.includes(first.owner)) return `its owner ${first.owner} is no member`
  return true
}

// Whoever may see it as it is in the end sees it. (That somebody sees too much time puts right.)
function seen(tables: Tables, scene: Scene): true | string {
  const { hides = 0 } = tables.scope
  const faces = here(tables, scene).map((inc) => faceIn(tables, scene, inc))
  const owner = faces.find(({ owns }) => owns)
  if (!owner || hides === 0) return true
  const { fields } = owner.own!
  const blind = faces.find(({ me, own }) => {
    return (me !== hides || Number(fields[0]) % 2 === 0) && (!own || own.hidden)
  })
  return !blind || `${blind.me} does not see ${owner.fields} of ${owner.me}`
}

// When all is told nobody waits, and the primary has nothing left to decide.
function ends(tables: Tables, scene: Scene): true | string {
  for (const inc of here(tables, scene)) {
    const { waits } = faceIn(tables, scene, inc)
    if (waits !== '') return waits
  }
  return true
}

/** What happens in some state, or the scope is too small. */
export function sometimes(tables: Tables): NonNullable<Model<Scene>['sometimes']> {
  const { grants, destroys, writes, takeovers, takes, hides }: Scope = tables.scope
  const claims: NonNullable<Model<Scene>['sometimes']> = {}
  const claim = (name: string, holds: (own: NonNullable<Face['own']>) => boolean): void => {
    claims[name] = (scene) => someone(tables, scene, ({ own }) => own !== null && holds(own))
  }
  if (grants) claim('it changed hands', ({ version }) => version.count > 0)
  if (destroys) claim('it is gone', ({ dead }) => dead)
  if (writes) claim('it was written', ({ oseq }) => oseq > 1)
  if (takeovers && grants) {
    claim('a new primary adopted or granted', ({ version }) => version.epoch > 1)
  }
  if (takes) {
    claims['a take was granted'] = (scene) => scene[tables.place.granted] !== notes.NOTHING
  }
  if (hides) claim('it was hidden', ({ hidden }) => hidden)
  return claims
}

function someone(tables: Tables, scene: Scene, holds: (face: Face) => boolean): boolean {
  const { up } = worldIn(tables, scene)
  for (let inc = 1; inc <= tables.members; inc++) {
    if (has(up, inc) && holds(faceIn(tables, scene, inc))) return true
  }
  return false
}
