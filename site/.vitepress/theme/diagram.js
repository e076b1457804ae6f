import { useData, withBase } from 'vitepress'
import { defineComponent, h, onMounted, ref, watch } from 'vue'

let count = 0
let loading

/**
 * Mermaid, once for all diagrams. It is a script of the site, since to bundle it would take as long as everything else.
 */
async function load () {
  loading ??= new Promise((resolve, reject) =>
    document.head.append(
      Object.assign(document.createElement('script'), {
        src: withBase('/mermaid.js'),
        onload: resolve,
        onerror: reject
      })
    )
  )
  await loading
  return globalThis.mermaid
}

/** A Mermaid diagram, in the colours of the page. Until it is drawn, its source. */
export const Diagram = defineComponent({
  props: { source: { type: String, required: true } },
  setup (props) {
    const { isDark } = useData()
    const svg = ref()
    const source = decodeURIComponent(props.source)
    async function draw () {
      const mermaid = await load()
      mermaid.initialize({
        startOnLoad: false,
        theme: isDark.value ? 'dark' : 'neutral',
        fontFamily: window.getComputedStyle(document.body).fontFamily,
        flowchart: { useMaxWidth: false },
        sequence: { useMaxWidth: false }
      })
      svg.value = (await mermaid.render(`diagram-${count++}`, source)).svg
    }
    onMounted(draw)
    watch(isDark, draw)
    return () =>
      svg.value === undefined
        ? h('pre', { class: 'diagram' }, source)
        : h('div', { class: 'diagram', innerHTML: svg.value })
  }
})
