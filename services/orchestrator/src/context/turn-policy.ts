import type {
  ApprovalRule,
  CatalogTool,
  Envelope,
  Principal,
  ToolCallBlock,
} from '@mcp-host/contracts'
import { BusError, LOCAL } from '@mcp-host/contracts'
import type { Decision, Policy } from '@mcp-host/policy'
import { decide, isHidden, OPEN_POLICY, PolicyFile } from '@mcp-host/policy'
import type { AllowedBy, FileFaultDeps, ToolPins } from '@mcp-host/service'
import { followDataFile } from '@mcp-host/service'
import type { Tools, TurnPolicy } from '../turn/turn.ts'

export interface TurnPolicyDeps extends FileFaultDeps {
  readonly tools: Pick<Tools, 'definitionOf'>
  /** The calls that need a user's approval although the policy allows them. */
  readonly needsApproval: ApprovalRule
  readonly pins: Pick<ToolPins, 'isQuarantined' | 'setMode'>
  /** Counts a call against the limits of the policy. Throws, or rejects with, `exhausted`. */
  readonly permit: (principal: string, allowedBy: AllowedBy) => Promise<void> | undefined
}

/** The rules of `policy.json` for turns. They are read again when the file changes. Throws `ConfigError`. */
export function followTurnPolicy(
  path: string,
  { tools, needsApproval, pins, permit, ...deps }: TurnPolicyDeps,
): TurnPolicy & AsyncDisposable {
  let policy: Policy = OPEN_POLICY
  const options = {
    path,
    defaultPath: 'policy.json',
    setting: 'POLICY_CONFIG',
    schema: PolicyFile,
    what: 'rules of the policy',
  }
  const set = (read: Policy | undefined): void => {
    policy = read ?? OPEN_POLICY
    pins.setMode(policy.pin)
  }
  const file = followDataFile(options, set, deps)
  const annotationsOf = (server: string, tool: string) => (): CatalogTool['annotations'] =>
    tools.definitionOf(server, tool)?.annotations
  const decisionOf = (
    caller: Envelope,
    { server, tool, arguments: given }: ToolCallBlock,
  ): Decision => {
    // A call of an unknown tool is refused elsewhere, with another reason.
    if (server === undefined || tool === undefined) return { effect: 'allow' }
    if (pins.isQuarantined(server, tool)) return { effect: 'deny' }
    const annotations = annotationsOf(server, tool)
    const call = {
      principal: callerOf(caller),
      server,
      tool,
      annotations,
      arguments: given,
      inputSchema: () => tools.definitionOf(server, tool)?.inputSchema,
    }
    const decision = decide(policy, call)
    const isAsked = decision.effect === 'allow' && needsApproval(server, tool, annotations)
    return isAsked ? { ...decision, effect: 'approve' } : decision
  }
  return {
    effectOf: (caller, call) => decisionOf(caller, call).effect,
    denialOf(caller, call) {
      const { effect, rule, reason = rule?.reason } = decisionOf(caller, call)
      if (effect !== 'deny') return undefined
      const { server = '', tool = '' } = call
      return pins.isQuarantined(server, tool)
        ? 'its definition has changed, and no admin has accepted it'
        : (reason ?? 'the policy of this host does not allow it')
    },
    async refusalOf(caller, call) {
      try {
        await permit(caller.principal, decisionOf(caller, call))
        return undefined
      } catch (error) {
        return BusError.from(error).message
      }
    },
    isHidden: (caller, { server, tool }) =>
      pins.isQuarantined(server, tool) ||
      isHidden(policy, {
        principal: callerOf(caller),
        server,
        tool,
        annotations: annotationsOf(server, tool),
      }),
    [Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
  }
}

/**
 * The caller of a message. Messages of earlier versions have no roles; those of the local user get their roles here.
 */
function callerOf({ principal, roles }: Envelope): Pick<Principal, 'id' | 'roles'> {
  return { id: principal, roles: roles ?? (principal === LOCAL.id ? LOCAL.roles : []) }
}
