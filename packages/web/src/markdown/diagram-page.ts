export interface Drawing {
  /** The diagram in the language of Mermaid. */
  readonly source: string
  readonly isDark: boolean
}

/** What the page of a diagram answers. */
export type Drawn = { readonly svg: string } | { readonly fault: string }

/** The method of its message. */
export const DRAWN = 'diagram-drawn'

/**
 * Draws a diagram in its page, and sends it as XML, which a picture must be. The page has the text of this function, so
 * that it refers to nothing outside.
 */
async function draw(library: string, { source, isDark }: Drawing, method: string): Promise<void> {
  const send = (params: Drawn): void => parent.postMessage({ jsonrpc: '2.0', method, params }, '*')
  try {
    const script = document.createElement('script')
    script.textContent = library
    document.head.append(script)
    // The script defines it.
    const { mermaid } = globalThis as unknown as { mermaid: Mermaid }
    mermaid.initialize({
      startOnLoad: false,
      securityLevel: 'strict',
      suppressErrorRendering: true,
      theme: isDark ? 'dark' : 'neutral',
      // Not every browser draws HTML in a picture.
      htmlLabels: false,
      flowchart: { htmlLabels: false },
    })
    const { svg } = await mermaid.render('diagram', source)
    const picture = new DOMParser().parseFromString(svg, 'text/html').querySelector('svg')
    if (picture === null) throw new Error('it is empty')
    // Without them a picture has the width of a page.
    const { width, height } = picture.viewBox.baseVal
    picture.setAttribute('width', String(width))
    picture.setAttribute('height', String(height))
    send({ svg: new XMLSerializer().serializeToString(picture) })
  } catch (error) {
    send({ fault: error instanceof Error ? error.message : String(error) })
  }
}

interface Mermaid {
  initialize(options: object): void
  render(id: string, source: string): Promise<{ readonly svg: string }>
}

/** The page that draws a diagram, for the sandbox. `library`: the program of Mermaid. */
export function diagramPage(library: string, drawing: Drawing): string {
  // No text in it ends the script.
  const given = JSON.stringify([library, drawing, DRAWN]).replaceAll('<', String.raw`\u003c`)
  return `<!doctype html><meta charset="utf-8"><title>Diagram</title><body><script>(${draw.toString()})(...${given})</script>`
}
