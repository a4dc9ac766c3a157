import type { Sdk } from './clients.ts'

export interface Exception {
  /** Names of servers. Default: all. */
  readonly servers?: readonly string[]
  /** Default: both SDKs. */
  readonly sdk?: Sdk
  /** The place of the difference, with everything below it. `*` stands for any one name. */
  readonly path: readonly string[]
  readonly why: string
}

/** Differences that are intended or cannot be avoided. */
const EXCEPTIONS: readonly Exception[] = [
  {
    sdk: 'v2',
    path: ['tools', '*', 'execution'],
    why: 'revision 2026-07-28 has no `execution` in a tool',
  },
  ...['ttlMs', 'cacheScope'].map((field) => ({
    sdk: 'v2' as const,
    path: ['resources/read', '*', field],
    why: 'revision 2026-07-28 requires `ttlMs` and `cacheScope`, which older servers do not send',
  })),
  ...['tools/call', 'resources/read', 'prompts/get'].map((method) => ({
    servers: ['angular', 'searxng', 'mongodb'],
    path: [method, '*', '_meta'],
    why: 'a server of 2026-07-28 adds its name to each result; the supervisor uses that revision with the server even for clients of older ones',
  })),
  {
    servers: ['everything'],
    path: ['tools', 'simulate-research-query'],
    why: 'a tool that can only run as a task is not offered',
  },
  {
    servers: ['everything'],
    path: ['tools/call', 'get-sum {"a":"two","b":3}', 'content'],
    why: 'the supervisor validates arguments itself, with other error messages',
  },
  {
    servers: ['gitlab'],
    path: ['tools'],
    why: 'its schemas lack a type, so that the SDK refuses its list; the supervisor corrects them',
  },
  {
    servers: ['postgres'],
    path: ['resources'],
    why: 'a server whose list of resources fails is offered without resources',
  },
]

export interface Location {
  readonly server: string
  readonly sdk: Sdk
  readonly path: readonly string[]
}

export function findException(
  { server, sdk, path }: Location,
  exceptions = EXCEPTIONS,
): Exception | undefined {
  return exceptions.find(
    (each) =>
      (each.servers?.includes(server) ?? true) &&
      (each.sdk ?? sdk) === sdk &&
      each.path.length <= path.length &&
      each.path.every((name, index) => name === '*' || name === path[index]),
  )
}
