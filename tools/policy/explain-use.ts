import type { CatalogEntry } from '@mcp-host/contracts'
import { approvalFinder, describeFileFault, fileFaults, viewServers } from '@mcp-host/contracts'
import type { ItemUse, Policy } from '@mcp-host/policy'
import { explain, ruleName } from '@mcp-host/policy'

/** The use of an item, as the options name it. */
export interface NamedUse {
  readonly principal: ItemUse['principal']
  readonly server: string
  readonly kind: 'tool' | 'prompt' | 'resource'
  /** Name or URI of the item at its server. */
  readonly name: string
  readonly arguments: unknown
  /** Whether the tool counts as one that only reads, whatever its server says. */
  readonly isReadOnly: boolean
}

export interface ExplainOptions {
  readonly policy: Policy
  /** The lines of its rules in their file. */
  readonly lines: readonly number[]
  /** The rules of `TOOL_APPROVAL`. */
  readonly toolApproval: readonly string[]
  /** What the running host offers, or why that is not known. */
  readonly host: readonly CatalogEntry[] | { readonly why: string }
}

/** Says in lines how the policy and `TOOL_APPROVAL` decide about a use, and whether the item exists. Pure. */
export function explainUse(
  named: NamedUse,
  { policy, lines, toolApproval, host }: ExplainOptions,
): string[] {
  const { principal, server, kind, name } = named
  const catalog = 'why' in host ? [] : host
  const tool = toolOf(catalog, named)
  const annotations = () => (named.isReadOnly ? { readOnlyHint: true } : tool?.annotations)
  const inputSchema = () => tool?.inputSchema
  const use: ItemUse =
    kind === 'tool'
      ? { principal, server, tool: name, annotations, arguments: named.arguments, inputSchema }
      : kind === 'prompt'
        ? { principal, server, prompt: name }
        : { principal, server, resource: name }
  const { effect, rule, index, verdicts } = explain(policy, use)
  const decider = index === undefined ? 'the default' : ruleName(rule?.name, index)
  const asking =
    kind === 'tool' && effect === 'allow'
      ? approvalFinder(toolApproval)(server, name, annotations)
      : undefined
  return [
    asking === undefined
      ? `${effect}, decided by ${decider}`
      : `approve, decided by TOOL_APPROVAL, where ${asking} selects the tool; the policy allows it by ${decider}`,
    ...(asking !== undefined || effect === 'approve'
      ? ['The call would wait until a user allows it.']
      : []),
    ...verdicts.map(({ rule: each, text, verdict, mismatch }, position) => {
      const why = mismatch === undefined ? '' : `: ${mismatch}`
      const line = lines[position]
      const place = line === undefined ? '' : `line ${line}: `
      return `  ${each}   ${verdict}${why}   (${place}${text})`
    }),
    ...absence(named, host),
    ...fileFaults(catalog)
      .filter(({ setting }) => setting === 'POLICY_CONFIG')
      .map((fault) => `The running host decides by other rules: ${describeFileFault(fault)}`),
  ]
}

function toolOf(catalog: readonly CatalogEntry[], { server, kind, name }: NamedUse) {
  if (kind !== 'tool') return undefined
  const view = viewServers(catalog).find((each) => each.server === server)
  return view?.tools.find((each) => each.name === name)
}

/** Says that an item does not exist at the running host, or why that is not known. */
function absence({ server, kind, name }: NamedUse, host: ExplainOptions['host']): string[] {
  const item = `${server}.${name}`
  if ('why' in host) return [`Not checked whether ${item} exists: ${host.why}`]
  const view = viewServers(host).find((each) => each.server === server)
  const supervisors = host.filter((entry) => entry.kind === 'supervisor')
  if (supervisors.length === 0)
    return [`Not checked whether ${item} exists: no mcp-supervisor runs at this host`]
  const configured = supervisors.flatMap((entry) => entry.configured ?? [])
  if (view === undefined && !configured.some((each) => each === server))
    return [`The running host has no server ${server}. See its servers: npm run servers`]
  if (view?.state !== 'ready')
    return [
      `Not checked whether ${item} exists: the server ${server} is ${view?.state ?? 'absent'}`,
    ]
  const { prompts = [], resources = [], resourceTemplates = [] } = view.entry
  const names = {
    tool: view.tools.map((each) => each.name),
    prompt: prompts.map((each) => each.name),
    resource: [
      ...resources.map(({ uri }) => uri),
      ...resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    ],
  }
  // A server may read resources that it does not list.
  const verb = kind === 'resource' ? 'lists' : 'has'
  return names[kind].includes(name) ? [] : [`The server ${server} ${verb} no ${kind} ${name}.`]
}
