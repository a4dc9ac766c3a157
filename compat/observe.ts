import { inFolder } from './command.ts'
import type { ListName, SdkClient } from './clients.ts'
import type { RealServer } from './servers.ts'

/** Everything that a client sees of a server, as one JSON value. */
export type Observation = Readonly<Record<string, unknown>>

export interface ObserveOptions {
  readonly server: RealServer
  readonly folder: string
  /** Prefix of the names of tools and prompts. With a prefix, resources are not observed, because they have none. */
  readonly prefix?: string
}

type Item = Readonly<Record<string, unknown>>

/** An error in place of a result, so that errors can be compared. */
export class Failure {
  readonly code: unknown
  readonly message: string

  constructor(error: unknown) {
    const { code, message } = error as { readonly code?: unknown; readonly message: string }
    this.code = code
    this.message = message
  }
}

/** Prompts and resources that are read per server. */
const MAX_READS = 2
const METHOD_NOT_FOUND = -32_601

const KEYS: Readonly<Record<ListName, string>> = {
  tools: 'name',
  prompts: 'name',
  resources: 'uri',
  resourceTemplates: 'uriTemplate',
}

/** Reads the lists of a server, calls its safe tools, and reads its first prompts and resources. */
export async function observe(
  client: SdkClient,
  { server, folder, prefix }: ObserveOptions,
): Promise<Observation> {
  const begin = prefix ?? ''
  const tools = await listItems(client, 'tools', begin)
  const prompts = await listItems(client, 'prompts', begin)
  const named = {
    tools,
    prompts,
    'tools/call': await askEach(server.calls ?? [], {
      key: ({ tool, arguments: args = {} }) => `${tool} ${JSON.stringify(args)}`,
      ask: ({ tool, arguments: args = {} }) =>
        client.callTool(`${begin}${tool}`, inFolder(args, folder)),
    }),
    'prompts/get': await askEach(itemsOf(prompts).filter(hasNoArguments).slice(0, MAX_READS), {
      key: ({ name }) => String(name),
      ask: ({ name }) => client.getPrompt(`${begin}${String(name)}`),
    }),
  }
  if (prefix !== undefined) return named
  const resources = await listItems(client, 'resources')
  return {
    ...named,
    instructions: client.instructions,
    resources,
    resourceTemplates: await listItems(client, 'resourceTemplates'),
    'resources/read': await askEach(itemsOf(resources).slice(0, MAX_READS), {
      key: ({ uri }) => String(uri),
      ask: ({ uri }) => client.readResource(String(uri)),
    }),
  }
}

/** The items of a list by their keys, in the order of the list. */
async function listItems(
  client: SdkClient,
  name: ListName,
  prefix = '',
): Promise<Readonly<Record<string, Item>> | Failure> {
  try {
    const found = new Map<string, Item>()
    for (const item of await allPages(client, name)) {
      const key = String(item[KEYS[name]])
      if (!key.startsWith(prefix)) continue
      const own = key.slice(prefix.length)
      // Several items with the same key are all kept.
      const place = found.has(own) ? `${own} (${found.size})` : own
      found.set(place, prefix === '' ? item : { ...item, [KEYS[name]]: own })
    }
    return Object.fromEntries(found)
  } catch (error) {
    const failure = new Failure(error)
    // Servers without a list show it by their capabilities or by this error.
    return failure.code === METHOD_NOT_FOUND ? {} : failure
  }
}

async function allPages(client: SdkClient, name: ListName): Promise<Item[]> {
  const items: Item[] = []
  let cursor: string | undefined
  do {
    const page = await client.list(name, cursor === undefined ? undefined : { cursor })
    items.push(...((page[name] ?? []) as Item[]))
    cursor = page.nextCursor === '' ? undefined : page.nextCursor
  } while (cursor !== undefined)
  return items
}

function itemsOf(list: Readonly<Record<string, Item>> | Failure): Item[] {
  return list instanceof Failure ? [] : Object.values(list)
}

function hasNoArguments(prompt: Item): boolean {
  const declared = (prompt['arguments'] ?? []) as readonly { readonly required?: boolean }[]
  return declared.every(({ required }) => required !== true)
}

async function askEach<T>(
  items: readonly T[],
  { key, ask }: { key: (item: T) => string; ask: (item: T) => Promise<unknown> },
): Promise<Readonly<Record<string, unknown>>> {
  const answers: [string, unknown][] = []
  for (const item of items) {
    const answer = await ask(item).catch((error: unknown) => new Failure(error))
    answers.push([key(item), answer])
  }
  return Object.fromEntries(answers)
}
