import { ValidationError } from '../errors/validation-error.ts'
import type { RequestOptions } from '../requests/options.ts'
import type { MemberServer } from '../server/managed-server.ts'
import { findResource, qualifyUri, type ResourceIdentity } from './find-resource.ts'
import {
  type Named,
  NameTable,
  type PromptIdentity,
  type ToolIdentity,
} from '../names/name-table.ts'

/** From what callers name to the server that has it. Throws `ValidationError` for what none has. */
export class Router {
  /** In the order of the configuration. */
  readonly #servers: () => readonly MemberServer[]
  readonly #tools = new NameTable()
  readonly #prompts = new NameTable()

  constructor(servers: () => readonly MemberServer[]) {
    this.#servers = servers
  }

  /** Takes up what a server lists, or listed last. */
  update({ name, lastLive }: MemberServer): void {
    const { tools = new Map(), prompts = new Map(), deniedTools = [] } = lastLive?.inventory ?? {}
    // Calls of denied tools must be reported, too.
    this.#tools.update(name, [...tools.keys(), ...deniedTools])
    this.#prompts.update(name, prompts.keys())
  }

  /** For a server that left the configuration. */
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
    const lists = this.#servers().flatMap(({ name, lastLive }) => {
      const inventory = lastLive?.inventory
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
    const message = `the resource "${resource}" may be meant of ${names}: ask for one, as ${example}`
    throw new ValidationError(message, [], { requestId })
  }

  /** A server that never was ready has no names in the tables: say so rather than "unknown" alone. */
  notReady(): string {
    const missing = this.#servers().filter(({ state }) => state !== 'ready')
    if (missing.length === 0) return ''
    return ` (not ready: ${missing.map(({ name }) => name).join(', ')})`
  }
}
