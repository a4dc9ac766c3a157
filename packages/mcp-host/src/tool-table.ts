import type { Server } from './server/server.ts'

/** A tool is known by the pair; how it is spelled elsewhere is a matter of tables. */
export interface ToolIdentity {
  readonly server: string
  readonly tool: string
}

/** From the name `{server}.{tool}` to the tool. Names are looked up and never taken apart. */
export class ToolTable {
  readonly #identities = new Map<string, ToolIdentity>()

  /** Puts the tools of one server in the place of those that it had before. */
  update({ name: server, toolNames }: Pick<Server, 'name' | 'toolNames'>): void {
    for (const [name, identity] of this.#identities) {
      if (identity.server === server) this.#identities.delete(name)
    }
    for (const tool of toolNames) this.#identities.set(`${server}.${tool}`, { server, tool })
  }

  find(name: string): ToolIdentity | undefined {
    return this.#identities.get(name)
  }
}
