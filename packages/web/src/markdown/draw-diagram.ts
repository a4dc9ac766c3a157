import { objectOf } from '../state/object-of.ts'
import type { Drawing } from './diagram-page.ts'
import { diagramPage, DRAWN } from './diagram-page.ts'

/** Longer sources, in characters, are not drawn. */
const MAX_LENGTH = 20 * 1024
/** For the sandbox to load. */
const START_MS = 15_000
const DRAW_MS = 5_000
/** Wide enough for each diagram to take the place that it needs. */
const SIZE_PX = '1200'

let library: Promise<string> | undefined

async function readLibrary(): Promise<string> {
  const answer = await fetch(new URL('@mermaid-js/tiny/dist/mermaid.tiny.js', import.meta.url))
  if (!answer.ok) throw new Error(`the answer is ${answer.status}`)
  return answer.text()
}

/**
 * Draws a diagram in a frame without an origin and a network, which ends with it. Resolves with the address of a picture,
 * in which no script runs and nothing is loaded.
 */
export async function drawDiagram(drawing: Drawing, signal: AbortSignal): Promise<string> {
  if (drawing.source.length > MAX_LENGTH)
    throw new Error(`it is longer than ${MAX_LENGTH} characters`)
  library ??= readLibrary()
  // A host that was away may be back at the next diagram.
  library.catch(() => (library = undefined))
  const html = diagramPage(await library, drawing)
  signal.throwIfAborted()
  const frame = document.createElement('iframe')
  frame.setAttribute('sandbox', 'allow-scripts')
  frame.className = 'drawing'
  frame.inert = true
  frame.width = SIZE_PX
  frame.height = SIZE_PX
  frame.src = '/app-sandbox'
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const give = (limitMs: number): number =>
    window.setTimeout(() => reject(new Error('it takes too long')), limitMs)
  let timer = give(START_MS)
  const take = ({ source, data }: MessageEvent<unknown>): void => {
    if (source !== frame.contentWindow || source === null || typeof data !== 'string') return
    // The sandbox sends nothing but JSON.
    const { method, params } = objectOf(JSON.parse(data))
    const { svg, fault } = objectOf(params)
    if (method === 'ui/notifications/sandbox-proxy-ready') {
      clearTimeout(timer)
      timer = give(DRAW_MS)
      const ready = 'ui/notifications/sandbox-resource-ready'
      frame.contentWindow?.postMessage({ jsonrpc: '2.0', method: ready, params: { html } }, '*')
    } else if (method === DRAWN) {
      // An address of type blob: would be a page of this host when the user opens the picture.
      if (typeof svg === 'string')
        resolve(`data:image/svg+xml,${encodeURIComponent(svg.toWellFormed())}`)
      else reject(new Error(String(fault)))
    }
  }
  const stop = (): void => reject(signal.reason)
  addEventListener('message', take)
  signal.addEventListener('abort', stop)
  document.body.append(frame)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    removeEventListener('message', take)
    signal.removeEventListener('abort', stop)
    frame.remove()
  }
}
