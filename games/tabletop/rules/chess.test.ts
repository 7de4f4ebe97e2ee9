// Goal: the moves of chess are all there are and no others, and every way it ends is known.
// Method: counts of positions that are published for these two, and positions by hand.
import { describe, expect, test } from 'vitest'
import {
  decode,
  encode,
  isInCheck,
  moves,
  play,
  type Position,
  squareName,
  START,
} from './chess.ts'
import { ended, lineWith, repeatsOf } from './chess-end.ts'

/** Positions after so many moves. */
function count(position: Position, depth: number): number {
  const all = moves(position)
  if (depth === 1) return all.length
  return all.reduce((sum, move) => sum + count(play(position, move), depth - 1), 0)
}

const at = (text: string): Position => decode(text)!
const KIWIPETE = 'r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1'

/** Plays moves such as `e2e4`. */
function after(position: Position, line: string): Position {
  return line.split(' ').reduce((now, text) => {
    const move = moves(now).find(({ from, to, promotion }) => {
      return `${squareName(from)}${squareName(to)}${promotion}` === text
    })
    if (!move) throw new Error(`${text} is no move in ${encode(now)}`)
    return play(now, move)
  }, position)
}

const names = (position: Position): string[] =>
  moves(position).map(({ from, to, promotion }) => squareName(from) + squareName(to) + promotion)

describe('the moves', () => {
  test.each([
    ['the start', encode(START), [20, 400, 8902]],
    ['Kiwipete', KIWIPETE, [48, 2039, 97_862]],
    ['pawns and rooks', '8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1', [14, 191, 2812]],
    ['promotions', 'n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1', [24, 496, 9483]],
  ])('from %s are as many as are published', (_name, text, counts) => {
    for (const [depth, wanted] of counts.entries()) expect(count(at(text), depth + 1)).toBe(wanted)
  })

  test('a pawn captures in passing at once or not at all, and not if that opens a check', () => {
    const open = after(START, 'e2e4 a7a6 e4e5 d7d5')
    expect(names(open)).toContain('e5d6')
    expect(after(open, 'e5d6').cells.slice(24, 32)).toBe('........')
    expect(names(after(open, 'h2h3 h7h6'))).not.toContain('e5d6')
    expect(names(at('8/8/8/K2pP2r/8/8/8/7k w - d6 0 1'))).not.toContain('e5d6')
  })

  test('castling: not out of check, through it, over a man, or after king or rook moved', () => {
    const free = at('r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1')
    expect(names(free)).toEqual(expect.arrayContaining(['e1g1', 'e1c1']))
    expect(after(free, 'e1c1').cells.slice(56)).toBe('..KR...R')
    const through = at('r3kr2/8/8/8/8/8/8/R3K2R w KQq - 0 1')
    expect(names(through)).toContain('e1c1')
    expect(names(through)).not.toContain('e1g1')
    const back = after(free, 'a1b1 a8b8 b1a1 b8a8')
    expect(names(back)).toContain('e1g1')
    expect(names(back)).not.toContain('e1c1')
    expect(names(at('4k3/8/8/8/4r3/8/8/R3K2R w KQ - 0 1'))).not.toContain('e1g1')
    // A rook that is captured castles no more.
    expect(after(free, 'h1h8').castling).toBe('Qq')
  })
})

describe('the end', () => {
  test.each([
    ['mate', 'rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3'],
    ['stalemate', '7k/5Q2/6K1/8/8/8/8/8 b - - 0 1'],
    ['material', '8/8/8/4k3/8/3NK3/8/8 w - - 0 1'],
    ['material', '8/8/2b1k3/8/8/3BK3/8/8 w - - 0 1'],
    ['quiet', '8/8/8/4k3/8/3RK3/8/8 w - - 100 90'],
    [null, '8/8/3b1k2/8/8/3BK3/8/8 w - - 99 90'],
    [null, '8/8/8/4k3/8/3PK3/8/8 w - - 0 1'],
    [null, encode(START)],
  ])('%s: %s', (wanted, text) => {
    expect(ended(at(text), 1)).toBe(wanted)
    expect(encode(at(text))).toBe(text)
  })

  test('a position that stands for the third time is a draw', () => {
    let now = START
    let line = ''
    const seen: number[] = []
    for (const text of 'g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8'.split(' ')) {
      const move = moves(now).find(({ from, to }) => squareName(from) + squareName(to) === text)!
      now = play(now, move)
      line = lineWith(line, move)
      seen.push(repeatsOf(START, line))
    }
    expect(seen).toEqual([1, 1, 1, 2, 2, 2, 2, 3])
    expect(ended(now, 3)).toBe('repeated')
    expect(isInCheck(now, 'w')).toBe(false)
  })

  test('what is no position is none', () => {
    for (const text of [
      7,
      '',
      '8/8/8/8/8/8/8/8 w - - 0 1',
      'kK6/8/8/8/8/8/8 w - - 0 1',
      'kK7/8/8/8/8/8/8/8 w - - 0 1',
      'kK6/8/8/8/8/8/8/8 x - - 0 1',
      `kK6/8/8/8/8/8/8/8 w - - ${'9'.repeat(99)} 1`,
    ]) {
      expect(decode(text)).toBe(null)
    }
  })
})
