/** The server and the name of a tool, which identify it. */
export interface ToolIdentity {
  readonly server: string
  readonly tool: string
}

/** The server and the name of a prompt, which identify it. */
export interface PromptIdentity {
  readonly server: string
  readonly prompt: string
}

export interface Named {
  readonly server: string
  /** The name that the server gave it. */
  readonly name: string
}

/** Maps names of the form `{server}.{name}` to their parts. Names are looked up, never split. */
export class NameTable {
  readonly #named = new Map<string, Named>()

  /** Replaces the names of one server. */
  update(server: string, names: Iterable<string>): void {
    for (const [fullName, named] of this.#named) {
      if (named.server === server) this.#named.delete(fullName)
    }
    for (const name of names) this.#named.set(`${server}.${name}`, { server, name })
  }

  find(fullName: string): Named | undefined {
    return this.#named.get(fullName)
  }
}
