/** Makes Markdown mean the same here as on a code host. */

import type { MarkdownRenderer } from 'vitepress'

/** The anchor of a heading, so that a link leads to the same place here. */
export function anchorOf(heading: string): string {
  const words = heading.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
  return words.replaceAll(' ', '-')
}

/**
 * Shows code as it stands, also with two braces, which are a template's elsewhere in a page, and
 * indented code as that between fences: in docstrings it is TypeScript.
 */
export function codeOf(markdown: MarkdownRenderer): void {
  const { renderer } = markdown
  renderer.rules.code_block = (tokens, index, options, env: { relativePath?: string }, self) => {
    tokens[index]!.info = env.relativePath?.startsWith('api/') ? 'tsx' : 'txt'
    return renderer.rules.fence!(tokens, index, options, env, self)
  }
  const render = renderer.rules.code_inline!
  renderer.rules.code_inline = (tokens, index, options, env, self) => {
    tokens[index]!.attrSet('v-pre', '')
    return render(tokens, index, options, env, self)
  }
}
