import { ValidationError } from '@mcp-host/upstream'
import type { RequestOptions, Upstream } from '@mcp-host/upstream'
import {
  findResource,
  type Named,
  NameTable,
  type PromptIdentity,
  qualifyUri,
  type ResourceIdentity,
  type ToolIdentity,
} from '@mcp-host/mcp'

/** Finds the server of a tool, prompt or resource. Throws `ValidationError` for unknown ones. */
export class Router {
  /** The servers in the order of the configuration. */
  readonly #servers: () => readonly Upstream[]
  readonly #tools = new NameTable()
  readonly #prompts = new NameTable()

  constructor(servers: () => readonly Upstream[]) {
    this.#servers = servers
  }

  /** Updates the names of a server from its last lists. */
  update({ name, inventory }: Upstream): void {
    const { tools = new Map(), prompts = new Map(), deniedTools = [] } = inventory ?? {}
    // Denied tools are included, so that calls of them are reported.
    this.#tools.update(name, [...tools.keys(), ...deniedTools])
    this.#prompts.update(name, prompts.keys())
  }

  /** Removes the names of a server that left the configuration. */
  forget(name: string): void {
    this.#tools.update(name, [])
    this.#prompts.update(name, [])
  }

  findTool(name: string, { requestId }: RequestOptions): ToolIdentity {
    const named = this.#tools.find(name)
    if (named !== undefined) return { server: named.server, tool: named.name }
    throw new ValidationError(`there is no tool "${name}"${this.notReady()}`, [], { requestId })
  }

  findPrompt(prompt: string | PromptIdentity, { requestId }: RequestOptions): Named {
    if (typeof prompt !== 'string') return { server: prompt.server, name: prompt.prompt }
    const named = this.#prompts.find(prompt)
    if (named !== undefined) return named
    throw new ValidationError(`there is no prompt "${prompt}"${this.notReady()}`, [], { requestId })
  }

  findResource(
    resource: string | ResourceIdentity,
    { requestId }: RequestOptions,
  ): ResourceIdentity {
    if (typeof resource !== 'string') return resource
    const lists = this.#servers().flatMap(({ name, inventory }) => {
      if (inventory === undefined) return []
      const { resources, resourceTemplates } = inventory
      return [{ name, resources, resourceTemplates }]
    })
    const [found, ...others] = findResource(resource, lists)
    if (found === undefined) {
      const message = `there is no resource "${resource}"${this.notReady()}`
      throw new ValidationError(message, [], { requestId })
    }
    if (others.length === 0) return found
    const names = [found, ...others].map(({ server }) => `"${server}"`).join(', ')
    const example = qualifyUri(found.server, resource)
    const message = `the resource "${resource}" is ambiguous, since ${names} may have it; name one, as in ${example}`
    throw new ValidationError(message, [], { requestId })
  }

  /** The end of an error for an unknown name. A server that is not ready may have the name. */
  notReady(): string {
    const missing = this.#servers().filter(({ state }) => state !== 'ready')
    if (missing.length === 0) return ''
    return ` (not ready: ${missing.map(({ name }) => name).join(', ')})`
  }
}
