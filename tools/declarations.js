// Declarations as they are in the package.

// Before TypeScript 5.7 typed arrays had no parameter, and since then the compiler writes it.
const PARAMETER = /\b((?:Big)?(?:Int|Uint|Float)\d+(?:Clamped)?Array)<ArrayBuffer(?:Like)?>/g

/**
 * Declarations without the head of their file, which is for who reads the source, and indented by
 * one character for four; without any comment where no user meets them.
 */
export function shortened(text, isMet) {
  const indent = ({ length }) => ' '.repeat(Math.ceil(length / 4))
  return (isMet ? text : text.replace(/^ *\/\*\*(?:(?!\*\/)[^])*\*\/\n/gm, ''))
    .replace(/^\/\*\*(?:(?!\*\/)[^])*\*\/\s*(?=import |export (?:type )?[{*])/, '')
    .replace(/^ +/gm, indent)
    .replaceAll(PARAMETER, '$1')
}
