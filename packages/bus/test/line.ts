import type { Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import { once } from 'node:events'

/** A broker's address of one process's own, whose line can be cut or made slow. */
export class Line implements AsyncDisposable {
  readonly #target: URL
  readonly #sockets = new Set<Socket>()
  readonly #downstream = new Set<Socket>()
  readonly #server = createServer((near) => this.#join(near))
  #isCut = false
  #isHeld = false

  private constructor(url: string) {
    this.#target = new URL(url)
  }

  static async open(url: string): Promise<Line> {
    const line = new Line(url)
    line.#server.listen(0, '127.0.0.1')
    await once(line.#server, 'listening')
    return line
  }

  get url(): string {
    const address = this.#server.address()
    const url = new URL(this.#target)
    url.port = typeof address === 'object' && address !== null ? `${address.port}` : ''
    return url.href
  }

  cut(): void {
    this.#isCut = true
    for (const socket of this.#sockets) socket.destroy()
  }

  mend(): void {
    this.#isCut = false
  }

  /** Keeps what the broker sends from arriving. */
  hold(): void {
    this.#isHeld = true
    for (const far of this.#downstream) far.pause()
  }

  release(): void {
    this.#isHeld = false
    for (const far of this.#downstream) far.resume()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #join(near: Socket): void {
    if (this.#isCut) return void near.destroy()
    const far = connect(Number(this.#target.port), this.#target.hostname)
    this.#downstream.add(far)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(from)
      from.on('data', (data) => void to.write(data))
      from.on('error', () => undefined)
      from.on('close', () => {
        this.#sockets.delete(from)
        this.#downstream.delete(from)
        to.destroy()
      })
    }
    if (this.#isHeld) far.pause()
  }
}
