import * as z from 'zod'

import type { ArgumentVerdict, ResultVerdict } from '../arguments/argument-validator.ts'
import type { ValidationMode } from '../server-config.ts'
import type { MessageLimits } from '../intake/message-limits.ts'
import type { ErrorContext } from '../errors/mcp-host-error.ts'
import { ProtocolError } from '../errors/protocol-error.ts'
import { type ArgumentIssue, ValidationError } from '../errors/validation-error.ts'
import type { Tool } from '../inventory/tool.ts'
import type { Logger } from '@mcp-host/process'
import type { MetricsRegistry } from '../metrics/host-metrics.ts'
import { checkBlocks } from './check-blocks.ts'
import type { Connection } from './connection.ts'

export interface CallCheckDeps {
  readonly server: string
  readonly logger: Logger
  readonly metrics: MetricsRegistry
  readonly limits: Pick<MessageLimits, 'contentBlocks'>
  /** Called for refused calls that may be an attack. */
  readonly onRefused: (tool: string, reason: string) => void
}

/** The schema of a result, which checks only the fields that every result has. */
const CallResult = z.looseObject({
  content: z.array(z.looseObject({ type: z.string() })).default([]),
})

type Arguments = Readonly<Record<string, unknown>>

interface CheckedCall {
  readonly tool: Tool
  readonly args: Arguments
}

const REMEDY =
  'send smaller arguments, or set "validateArguments": "off" for this server in mcp.json'

/** Checks calls of one server's tools, before they are sent, and their results. */
export class CallCheck {
  readonly #deps: CallCheckDeps
  /** Schemas with a logged warning, so that each is logged once. */
  readonly #warned = new WeakSet<object>()

  constructor(deps: CallCheckDeps) {
    this.#deps = deps
  }

  /**
   * Returns the tool and the arguments to send, which may be a corrected copy; a promise when a thread does the check.
   * Throws `ValidationError`.
   */
  call(
    { inventory, validator }: Connection,
    toolName: string,
    args: Arguments,
    context: ErrorContext,
  ): CheckedCall | Promise<CheckedCall> {
    const { server, onRefused } = this.#deps
    const name = `${server}.${toolName}`
    const tool = inventory.tools.get(toolName)
    if (tool === undefined) {
      if (inventory.isDenied(toolName)) onRefused(toolName, 'the tool is not allowed')
      throw new ValidationError(`there is no tool "${name}"`, [], context)
    }
    const verdict = validator.validate(tool, args)
    const asked = { tool, args }
    return verdict instanceof Promise
      ? verdict.then((late) => this.#judge(late, asked, validator.mode, context))
      : this.#judge(verdict, asked, validator.mode, context)
  }

  #judge(
    verdict: ArgumentVerdict,
    { tool, args }: CheckedCall,
    mode: ValidationMode,
    context: ErrorContext,
  ): CheckedCall {
    const { server, metrics, onRefused } = this.#deps
    const name = `${server}.${tool.name}`
    if (verdict.kind === 'valid') return { tool, args: verdict.args }
    if (verdict.kind === 'unusable-schema' && mode !== 'strict') {
      const { reason } = verdict
      const message = `arguments of "${name}" are not checked: its schema is unusable`
      this.#warn(tool.inputSchema, { tool: tool.name, reason }, message)
      return { tool, args }
    }
    const meter = metrics.meter(server, tool.name)
    meter.started()
    meter.ended('refused', 0)
    if (verdict.kind === 'unusable-schema') {
      const message = `the tool "${name}" cannot be called, its schema is unusable: ${verdict.reason}`
      throw new ValidationError(message, [], context)
    }
    if (verdict.kind === 'unchecked') {
      const message = `the arguments of "${name}" could not be checked by its schema: ${verdict.reason}; ${REMEDY}`
      throw new ValidationError(message, [], context)
    }
    const words = summarise(verdict.issues)
    if (verdict.isSuspicious === true) onRefused(tool.name, words)
    throw new ValidationError(`${name}: ${words}`, verdict.issues, context)
  }

  /**
   * Checks a result. Throws `ProtocolError` when it is no result, is too large, or breaks a schema that is applied
   * strictly. Returns a promise when a thread does the check.
   */
  result(
    { validator }: Connection,
    tool: Tool,
    received: unknown,
    context: ErrorContext,
  ): void | Promise<void> {
    const name = `${this.#deps.server}.${tool.name}`
    checkBlocks(name, received, this.#deps.limits, context)
    const parsed = CallResult.safeParse(received)
    if (!parsed.success) {
      throw new ProtocolError(`${name} answered with a malformed result`, undefined, context)
    }
    const { isError, structuredContent } = parsed.data
    const { outputSchema } = tool
    if (isError === true || outputSchema === undefined) return
    const verdict = validator.validateOutput(tool, structuredContent)
    return verdict instanceof Promise
      ? verdict.then((late) => this.#judgeResult(late, tool, validator.mode, context))
      : this.#judgeResult(verdict, tool, validator.mode, context)
  }

  #judgeResult(
    verdict: ResultVerdict,
    { name: toolName, outputSchema = {} }: Tool,
    mode: ValidationMode,
    context: ErrorContext,
  ): void {
    if (verdict.kind === 'valid') return
    const name = `${this.#deps.server}.${toolName}`
    if (verdict.kind !== 'invalid') {
      const about = { tool: toolName, reason: verdict.reason }
      const why =
        verdict.kind === 'unchecked' ? 'the check takes too long' : 'its output schema is unusable'
      return this.#warn(outputSchema, about, `results of "${name}" are not checked: ${why}`)
    }
    const issues = summarise(verdict.issues)
    const message = `${name} answered with a result that breaks its own output schema: ${issues}`
    if (mode === 'strict') throw new ProtocolError(message, undefined, context)
    // The tool has done its work. Without the result, a caller would repeat the call.
    this.#warn(outputSchema, { tool: toolName }, message)
  }

  #warn(schema: object, about: object, message: string): void {
    if (this.#warned.has(schema)) return
    this.#warned.add(schema)
    this.#deps.logger.warn(about, message)
  }
}

const MAX_SHOWN_ISSUES = 5

function summarise(issues: readonly ArgumentIssue[]): string {
  const shown = issues.slice(0, MAX_SHOWN_ISSUES).map(({ argument, expected }) => {
    return argument === '' ? `the arguments ${expected}` : `"${argument}" ${expected}`
  })
  const more = issues.length - shown.length
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
}
