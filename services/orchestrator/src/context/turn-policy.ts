import type {
  ApprovalRule,
  CatalogTool,
  Envelope,
  Principal,
  ToolCallBlock,
} from '@mcp-host/contracts'
import { BusError, LOCAL } from '@mcp-host/contracts'
import type { CallRules, Policy, ToolCall, Verdict } from '@mcp-host/policy'
import { admitCall, isHidden, judgeCall, OPEN_POLICY, PolicyFile } from '@mcp-host/policy'
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
  const isQuarantined = (server: string, tool: string): boolean => pins.isQuarantined(server, tool)
  const rules = (): CallRules => ({ policy, isQuarantined, needsApproval })
  /** The call of a known tool. A call of another is refused elsewhere, with another reason. */
  const toCall = (caller: Envelope, block: ToolCallBlock): ToolCall | undefined => {
    const { server, tool, arguments: given } = block
    if (server === undefined || tool === undefined) return undefined
    return {
      principal: callerOf(caller),
      server,
      tool,
      annotations: annotationsOf(server, tool),
      arguments: given,
      inputSchema: () => tools.definitionOf(server, tool)?.inputSchema,
    }
  }
  const verdictOf = (caller: Envelope, block: ToolCallBlock): Verdict => {
    const call = toCall(caller, block)
    return call === undefined ? { effect: 'allow' } : judgeCall(rules(), call)
  }
  return {
    effectOf: (caller, call) => verdictOf(caller, call).effect,
    denialOf(caller, call) {
      const { effect, reason } = verdictOf(caller, call)
      return effect === 'deny' ? reason : undefined
    },
    async refusalOf(caller, block) {
      try {
        const call = toCall(caller, block)
        if (call !== undefined)
          await admitCall(rules(), call, ({ id }, verdict) => permit(id, verdict))
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
