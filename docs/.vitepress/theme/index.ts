/** The theme: VitePress's own, with the demo of the first page. */

import type { Theme } from 'vitepress'
import DefaultTheme from 'vitepress/theme'
import { defineComponent, h, onBeforeUnmount, onMounted, ref } from 'vue'
import './site.css'

const Demo = defineComponent(() => {
  const element = ref<HTMLElement | null>(null)
  let end: (() => void) | null = null
  let isGone = false
  onMounted(async () => {
    const { show } = await import('../demo/demo.ts')
    if (!isGone && element.value) end = show(element.value)
  })
  onBeforeUnmount(() => {
    isGone = true
    end?.()
  })
  return () => h('section', { ref: element, class: 'demo', 'aria-label': 'Two windows of a room' })
})

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }) => void app.component('Demo', Demo),
} satisfies Theme
