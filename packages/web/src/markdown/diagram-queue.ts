import type { Drawing } from './diagram-page.ts'

/** Pictures that are kept. */
const MAX_KEPT = 50

type Draw = (drawing: Drawing, signal: AbortSignal) => Promise<string>

/** Draws diagrams one after another, so that many of them leave the processor to the page. */
export class DiagramQueue {
  readonly #draw: Draw
  readonly #pictures = new Map<string, string>()
  #last: Promise<unknown> = Promise.resolve()

  constructor(draw: Draw) {
    this.#draw = draw
  }

  /** The address of the picture of a diagram. Rejects with the reason of the signal. */
  draw(drawing: Drawing, signal: AbortSignal): Promise<string> {
    const picture = this.#last.then(() => this.#drawOnce(drawing, signal))
    this.#last = picture.catch(() => undefined)
    return picture
  }

  /** A turn is mounted again whenever it comes into view. */
  async #drawOnce(drawing: Drawing, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted()
    const key = JSON.stringify(drawing)
    const picture = this.#pictures.get(key) ?? (await this.#draw(drawing, signal))
    this.#pictures.set(key, picture)
    const [oldest] = this.#pictures.keys()
    if (this.#pictures.size > MAX_KEPT && oldest !== undefined) this.#pictures.delete(oldest)
    return picture
  }
}
