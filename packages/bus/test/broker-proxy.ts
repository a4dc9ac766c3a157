import type { Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import { once } from 'node:events'

/** A TCP proxy to a broker, whose connections can be cut or held. */
export class BrokerProxy implements AsyncDisposable {
  readonly #target: URL
  readonly #sockets = new Set<Socket>()
  readonly #upstreams = new Set<Socket>()
  readonly #server = createServer((client) => this.#join(client))
  #isCut = false
  #refusal = ''
  /** How many more connections are refused. */
  refusals = 0
  #isHeld = false

  private constructor(url: string) {
    this.#target = new URL(url)
  }

  static async open(url: string): Promise<BrokerProxy> {
    const proxy = new BrokerProxy(url)
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
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

  /** Cuts the connections, and answers the next ones with this error of a broker. */
  refuse(error: string, times: number): void {
    this.#refusal = error
    this.refusals = times
    this.cut()
    this.mend()
  }

  /** Holds back the data that the broker sends. */
  hold(): void {
    this.#isHeld = true
    for (const upstream of this.#upstreams) upstream.pause()
  }

  release(): void {
    this.#isHeld = false
    for (const upstream of this.#upstreams) upstream.resume()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #join(client: Socket): void {
    if (this.#isCut) return void client.destroy()
    if (this.refusals > 0) {
      this.refusals--
      this.#sockets.add(client)
      client.on('error', () => undefined)
      client.on('close', () => this.#sockets.delete(client))
      client.end(`INFO {"version":"2.12.0","max_payload":1}\r\n-ERR '${this.#refusal}'\r\n`)
      return
    }
    const upstream = connect(Number(this.#target.port), this.#target.hostname)
    this.#upstreams.add(upstream)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.#sockets.add(from)
      from.on('data', (data) => void to.write(data))
      from.on('error', () => undefined)
      from.on('close', () => {
        this.#sockets.delete(from)
        this.#upstreams.delete(from)
        to.destroy()
      })
    }
    if (this.#isHeld) upstream.pause()
  }
}
