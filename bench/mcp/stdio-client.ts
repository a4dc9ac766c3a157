import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { McpClient } from './mcp-client.ts'
import { initialize, initialized, toolCall } from './mcp-client.ts'

/** A client of the server itself over its pipes, which no gateway can be faster than. */
export class StdioClient implements McpClient {
  readonly #process: ChildProcess
  readonly #waiting = new Map<number, (message: string) => void>()
  #id = 1

  private constructor(process: ChildProcess) {
    this.#process = process
    if (process.stdout === null) throw new Error('the server has no pipes')
    createInterface({ input: process.stdout }).on('line', (line) => {
      const { id } = JSON.parse(line) as { id: number }
      this.#waiting.get(id)?.(line)
      this.#waiting.delete(id)
    })
  }

  static async open(program: readonly string[]): Promise<StdioClient> {
    const [command = '', ...args] = program
    const client = new StdioClient(spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] }))
    await client.#ask(0, initialize)
    client.#send(initialized)
    return client
  }

  get pid(): number {
    return this.#process.pid ?? 0
  }

  async call(text: string): Promise<void> {
    const id = this.#id++
    const answer = await this.#ask(id, toolCall(id, 'echo', text))
    if (!answer.includes(text)) throw new Error(`a call was answered: ${answer.slice(0, 300)}`)
  }

  async close(): Promise<void> {
    this.#process.kill()
  }

  #ask(id: number, line: string): Promise<string> {
    const answered = new Promise<string>((resolve) => this.#waiting.set(id, resolve))
    this.#send(line)
    return answered
  }

  #send(line: string): void {
    this.#process.stdin?.write(`${line}\n`)
  }
}
