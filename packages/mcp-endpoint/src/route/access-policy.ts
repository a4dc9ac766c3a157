import type { ApprovalRule, Caller, CatalogTool } from '@mcp-host/contracts'
import type { Decision, ItemUse, Policy, RuleVerdict } from '@mcp-host/policy'
import {
  decide,
  explain,
  isAboutAll,
  isHidden,
  isServerHidden,
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

/** Decides the items of servers that principals may see and use, by the policy and by `TOOL_APPROVAL`. */
export class AccessPolicy {
  #policy: Policy = OPEN_POLICY
  #namesUsers = false
  /** Whether the policy hides nothing from anybody. */
  #isOpen = true
  /** Whether it may deny whole servers, or resources that no server lists. */
  #deniesUnlisted = false
  #views = new WeakMap<MergedListing, Map<string, MergedListing>>()
  /** The latest view of each caller, with the listing that it is a view of. */
  #latest = new WeakMap<Caller, readonly [MergedListing, MergedListing]>()
  readonly #needsApproval: ApprovalRule
  readonly #onDenied: OnDenied
  readonly #quarantine: Quarantine
  readonly #listeners = new Set<() => void>()

  /** `needsApproval`: calls that need a user's approval although the policy allows them. */
  constructor(
    needsApproval: ApprovalRule = () => false,
    onDenied: OnDenied = () => undefined,
    quarantine: Quarantine = NO_QUARANTINE,
  ) {
    this.#quarantine = quarantine
    this.#needsApproval = needsApproval
    this.#onDenied = onDenied
  }

  set(policy: Policy): void {
    this.#policy = policy
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
    return !this.#isOpen && isServerHidden(this.#policy, { principal: caller, server })
  }

  /** Whether a tool is in quarantine, or the policy denies the caller every call of it. */
  isToolHidden(
    principal: Caller,
    server: string,
    { name: tool, annotations }: Pick<CatalogTool, 'name' | 'annotations'>,
  ): boolean {
    if (this.#quarantine.isQuarantined(server, tool)) return true
    const use = { principal, server, tool, annotations: () => annotations }
    return !this.#isOpen && isHidden(this.#policy, use)
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

  /**
   * Whether a call runs at once or needs a user's approval, and the rule for that. Throws `JsonRpcError` for a denied
   * call.
   */
  check(caller: Caller, route: Route, listing: MergedListing): Decision {
    const { server, name: tool } = route.place
    const annotations = () => listing.annotationsOf(server, tool)
    const call = {
      principal: caller,
      server,
      tool,
      annotations,
      arguments: route.params['arguments'] ?? {},
      inputSchema: () => listing.inputSchemaOf(server, tool),
    }
    const decision = decide(this.#policy, call)
    const { effect, rule, reason: why = rule?.reason } = decision
    if (effect === 'deny') {
      const reason = why ?? 'the policy of this host does not allow it'
      this.#onDenied(caller, { server, tool, arguments: call.arguments }, reason)
      const message = `the tool "${tool}" of the server "${server}" may not be called with these arguments: ${reason}`
      throw new JsonRpcError(JsonRpcCode.invalidParams, message, {
        data: { reason: 'denied', server, tool, retryable: false },
      })
    }
    const isAsked = effect === 'allow' && this.#needsApproval(server, tool, annotations)
    return isAsked ? { ...decision, effect: 'approve' } : decision
  }

  /** Explains the decision about the use of an item. Nothing is recorded, and the item is not used. */
  explain(use: ItemUse): ExplainedDecision {
    const decision = explain(this.#policy, use)
    if ('tool' in use) {
      const { server, tool, annotations } = use
      if (this.#quarantine.isQuarantined(server, tool)) {
        return { effect: 'deny', decidedBy: 'quarantine', verdicts: decision.verdicts }
      }
      const isAsked = decision.effect === 'allow' && this.#needsApproval(server, tool, annotations)
      if (isAsked) return { ...decision, effect: 'approve', decidedBy: 'tool-approval' }
    }
    return { ...decision, decidedBy: decision.rule === undefined ? 'default' : 'rule' }
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
    const policy = this.#policy
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
