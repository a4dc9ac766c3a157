import type { ComposeProject } from '@mcp-host/testkit'
import type { Victim } from './replica.ts'

const COMMANDS: Partial<Record<NodeJS.Signals, readonly string[]>> = {
  SIGKILL: ['kill'],
  SIGTERM: ['kill', '--signal', 'TERM'],
  // A signal would stop the init process alone.
  SIGSTOP: ['pause'],
  SIGCONT: ['unpause'],
}

type Docker = Pick<ComposeProject, 'docker' | 'start'>

/** A container of a service. The engine restarts one that ends by itself; one that was killed stays down. */
export class Container implements Victim {
  readonly exited: Victim['exited']
  readonly gone: Victim['gone']
  readonly #docker: Docker
  readonly #id: string

  private constructor(docker: Docker, id: string) {
    this.#docker = docker
    this.#id = id
    this.exited = docker
      .docker('wait', id)
      .then((code) => ({ code: Number(code), signal: null }))
      // It was removed.
      .catch(() => ({ code: null, signal: null }))
    this.gone = this.exited
  }

  /** Resolves when it is healthy, at once if it runs already. */
  static async start(docker: Docker, id: string): Promise<Container> {
    await docker.start(id)
    return new Container(docker, id)
  }

  async signal(signal: NodeJS.Signals): Promise<void> {
    const command = COMMANDS[signal]
    if (command === undefined) throw new Error(`containers do not get ${signal}`)
    await this.#docker.docker(...command, this.#id)
  }
}
