import type { ApprovalRule, Caller, CatalogTool } from '@mcp-host/contracts'
import type {
  CallLimit,
  CallRules,
  Decision,
  ItemUse,
  Policy,
  RuleVerdict,
  ToolCall,
  Verdict,
} from '@mcp-host/policy'
import {
  admitCall,
  explain,
  isAboutAll,
  isHidden,
  isServerHidden,
  judgeCall,
  OPEN_POLICY,
} from '@mcp-host/policy'
import { JsonRpcCode } from '@mcp-host/mcp'
import { JsonRpcError } from '../messages/json-rpc.ts'
import { hasPublicList, privately } from '../listing/list-caching.ts'
import type { MergedListing } from '../listing/merged-listing.ts'
import type { Route } from './route-request.ts'
import type { ServerListing } from '../listing/server-listing.ts'
import type { VirtualServer } from '../listing/virtual-server.ts'

/** Limit for the cached views of one listing. There is one for each set of rights. */
const MAX_VIEWS = 200

/** Tools that are blocked because their definition has changed. */
export interface Quarantine {
  readonly hasQuarantined: boolean
  isQuarantined(server: string, tool: string): boolean
}

const NO_QUARANTINE: Quarantine = { hasQuarantined: false, isQuarantined: () => false }

/** Called with each call that the policy denies. */
export type OnDenied = (
  caller: Caller,
  call: { readonly server: string; readonly tool: string; readonly arguments: unknown },
  reason: string,
) => void

/** The decision about the use of an item, and the part of the host that made it. */
export interface ExplainedDecision extends Decision {
  readonly decidedBy: 'rule' | 'default' | 'quarantine' | 'tool-approval'
  /** All rules of the policy in their order. */
  readonly verdicts: readonly RuleVerdict[]
}

export interface AccessPolicyDeps {
  /** The calls that need a user's approval although the policy allows them. Default: none. */
  readonly needsApproval?: ApprovalRule
  readonly onDenied?: OnDenied
  readonly quarantine?: Quarantine
  /** Counts the calls that the policy allows. Default: no limit. */
  readonly limit?: CallLimit<Caller>
}

/** Decides the items of servers that principals may see and use, by the policy and by `TOOL_APPROVAL`. */
export class AccessPolicy {
  #rules: CallRules
  #namesUsers = false
  /** Whether the policy hides nothing from anybody. */
  #isOpen = true
  /** Whether it may deny whole servers, or resources that no server lists. */
  #deniesUnlisted = false
  #views = new WeakMap<MergedListing, Map<string, MergedListing>>()
  /** The latest view of each caller, with the listing that it is a view of. */
  #latest = new WeakMap<Caller, readonly [MergedListing, MergedListing]>()
  readonly #deps: AccessPolicyDeps
  readonly #quarantine: Quarantine
  readonly #listeners = new Set<() => void>()

  constructor(deps: AccessPolicyDeps = {}) {
    const { needsApproval = () => false, quarantine = NO_QUARANTINE } = deps
    this.#deps = deps
    this.#quarantine = quarantine
    const isQuarantined = (server: string, tool: string): boolean =>
      quarantine.isQuarantined(server, tool)
    this.#rules = { policy: OPEN_POLICY, needsApproval, isQuarantined }
  }

  set(policy: Policy): void {
    this.#rules = { ...this.#rules, policy }
    const { rules, default: fallback } = policy
    this.#namesUsers = rules.some(({ users }) => users !== undefined)
    const denials = rules.filter(({ effect }) => effect === 'deny')
    this.#isOpen = fallback !== 'deny' && denials.length === 0
    this.#deniesUnlisted =
      fallback === 'deny' || denials.some((rule) => rule.resource !== undefined || isAboutAll(rule))
    this.refresh()
  }

  /** Drops the cached views and calls the listeners, since other items may have become visible. */
  refresh(): void {
    this.#views = new WeakMap()
    this.#latest = new WeakMap()
    for (const listener of this.#listeners) listener()
  }

  /** Whether the policy denies the caller everything of a server, so that it reads as unknown. */
  isServerHidden(caller: Caller, server: string): boolean {
    return !this.#isOpen && isServerHidden(this.#rules.policy, { principal: caller, server })
  }

  /** Whether a tool is in quarantine, or the policy denies the caller every call of it. */
  isToolHidden(
    principal: Caller,
    server: string,
    { name: tool, annotations }: Pick<CatalogTool, 'name' | 'annotations'>,
  ): boolean {
    if (this.#quarantine.isQuarantined(server, tool)) return true
    const use = { principal, server, tool, annotations: () => annotations }
    return !this.#isOpen && isHidden(this.#rules.policy, use)
  }

  /** The virtual server of an address, unless it is that of a hidden server. */
  admit(caller: Caller, virtualServer: VirtualServer | undefined): VirtualServer | undefined {
    const { server } = virtualServer ?? {}
    return server !== undefined && this.isServerHidden(caller, server) ? undefined : virtualServer
  }

  /** A virtual server without the items that the policy never allows the caller. Its listing follows the policy. */
  view(caller: Caller, virtualServer: VirtualServer): VirtualServer {
    return new PolicyView(virtualServer, {
      visible: (listing) => this.#visible(caller, listing),
      onChange: (listener) => {
        this.#listeners.add(listener)
        return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
      },
    })
  }

  /** The verdict about a call, which is counted against the limits. Throws `JsonRpcError` for a denied call. */
  admitCall(caller: Caller, route: Route, listing: MergedListing): Verdict | Promise<Verdict> {
    const call = toCall(caller, route, listing)
    const verdict = admitCall(this.#rules, call, this.#deps.limit)
    if (!(verdict instanceof Promise)) this.#refuseDenied(call, verdict)
    return verdict
  }

  /** Throws `JsonRpcError` for a call that is denied by now. Nothing is counted. */
  checkCall(caller: Caller, route: Route, listing: MergedListing): void {
    const call = toCall(caller, route, listing)
    this.#refuseDenied(call, judgeCall(this.#rules, call))
  }

  /** Explains the decision about the use of an item. Nothing is recorded, and the item is not used. */
  explain(use: ItemUse): ExplainedDecision {
    const { verdicts, ...decision } = explain(this.#rules.policy, use)
    const verdict: Verdict = 'tool' in use ? judgeCall(this.#rules, use) : decision
    const { decidedBy = verdict.rule === undefined ? 'default' : 'rule' } = verdict
    return { ...verdict, decidedBy, verdicts }
  }

  #refuseDenied(call: Call, { effect, reason = '' }: Verdict): void {
    if (effect !== 'deny') return
    const { principal, server, tool } = call
    this.#deps.onDenied?.(principal, { server, tool, arguments: call.arguments }, reason)
    const message = `the tool "${tool}" of the server "${server}" may not be called with these arguments: ${reason}`
    throw new JsonRpcError(JsonRpcCode.invalidParams, message, {
      data: { reason: 'denied', server, tool, retryable: false },
    })
  }

  #visible(caller: Caller, listing: MergedListing): MergedListing {
    if (this.#isOpen && !this.#quarantine.hasQuarantined) return listing
    const [source, latest] = this.#latest.get(caller) ?? []
    if (source === listing && latest !== undefined) return latest
    const view = this.#viewOf(caller, listing)
    this.#latest.set(caller, [listing, view])
    return view
  }

  #viewOf(caller: Caller, listing: MergedListing): MergedListing {
    const views = this.#views.get(listing) ?? new Map<string, MergedListing>()
    this.#views.set(listing, views)
    const roles = caller.roles.toSorted().join()
    const rights = this.#namesUsers ? `${caller.id} ${roles}` : roles
    const known = views.get(rights)
    if (known !== undefined) return known
    if (views.size >= MAX_VIEWS) views.clear()
    const view = this.#filter(caller, listing)
    views.set(rights, view)
    return view
  }

  #filter(caller: Caller, listing: MergedListing): MergedListing {
    const policy = this.#rules.policy
    const itemsOf = (whole: ServerListing): ServerListing => {
      const use = { principal: caller, server: whole.server }
      const canRead = (resource: string): boolean => !isHidden(policy, { ...use, resource })
      return {
        ...whole,
        tools: whole.tools.filter(({ name }) => {
          const annotations = listing.annotationsOf(whole.server, name)
          return !this.isToolHidden(caller, whole.server, { name, annotations })
        }),
        prompts: whole.prompts.filter(({ name }) => !isHidden(policy, { ...use, prompt: name })),
        resources: whole.resources.filter(({ uri }) => canRead(uri)),
        resourceTemplates: whole.resourceTemplates.filter(({ uriTemplate }) =>
          canRead(uriTemplate),
        ),
        ...(this.#deniesUnlisted && { canRead }),
        ...(!this.#isOpen && { caching: privately(whole.caching) }),
      }
    }
    const isWhole = (each: ServerListing): boolean => {
      const { tools, prompts } = itemsOf(each)
      const isComplete =
        tools.length === each.tools.length && prompts.length === each.prompts.length
      return isComplete && !hasPublicList(each)
    }
    // One listing for many callers takes less memory.
    if (!this.#deniesUnlisted && listing.servers.every(isWhole)) return listing
    const isHiddenServer = (server: string): boolean => this.isServerHidden(caller, server)
    return listing.seenWith({ isHidden: isHiddenServer, itemsOf })
  }
}

interface PolicyViewDeps {
  visible(listing: MergedListing): MergedListing
  /** Called when other items may have become visible. */
  onChange(listener: () => void): Disposable
}

/**
 * The view of a virtual server for a caller. It is a class, since one is created for each request and object literals
 * with getters are slow.
 */
class PolicyView implements VirtualServer {
  readonly #whole: VirtualServer
  readonly #deps: PolicyViewDeps

  constructor(whole: VirtualServer, deps: PolicyViewDeps) {
    this.#whole = whole
    this.#deps = deps
  }

  get servers(): readonly string[] | undefined {
    return this.#whole.servers
  }

  get listing(): MergedListing {
    return this.#deps.visible(this.#whole.listing)
  }

  /** Callers take it apart from the view. */
  readonly onChange = (listener: () => void): Disposable => {
    const watched = new DisposableStack()
    watched.use(this.#whole.onChange(listener))
    watched.use(this.#deps.onChange(listener))
    return watched
  }
}

interface Call extends ToolCall {
  readonly principal: Caller
}

function toCall(principal: Caller, { place, params }: Route, listing: MergedListing): Call {
  const { server, name: tool } = place
  return {
    principal,
    server,
    tool,
    annotations: () => listing.annotationsOf(server, tool),
    arguments: params['arguments'] ?? {},
    inputSchema: () => listing.inputSchemaOf(server, tool),
  }
}
