import * as z from 'zod'

import type { MessageLimits } from '../connection/message-limits.ts'
import type { ErrorContext } from '../errors/mcp-host-error.ts'
import { ProtocolError } from '../errors/protocol-error.ts'
import { type ArgumentIssue, ValidationError } from '../errors/validation-error.ts'
import type { Tool } from '../inventory/tool.ts'
import type { Logger } from '../logger.ts'
import type { MetricsRegistry } from '../metrics/host-metrics.ts'
import { checkBlocks } from './check-blocks.ts'
import type { LiveServer } from './live-server.ts'

export interface CallCheckDeps {
  readonly server: string
  readonly logger: Logger
  readonly metrics: MetricsRegistry
  readonly limits: Pick<MessageLimits, 'contentBlocks'>
  /** Told of calls that were refused because they may be an attack. */
  readonly onRefused: (tool: string, reason: string) => void
}

/** As received: only what makes it a result is checked. */
const CallResult = z.looseObject({
  content: z.array(z.looseObject({ type: z.string() })).default([]),
})

type Arguments = Readonly<Record<string, unknown>>

/** Checks calls of one server's tools, before they are sent, and their results. */
export class CallCheck {
  readonly #deps: CallCheckDeps
  /** Schemas that were warned about: once is enough. */
  readonly #warned = new WeakSet<object>()

  constructor(deps: CallCheckDeps) {
    this.#deps = deps
  }

  /** The tool, and the arguments to be sent, which may be a corrected copy. Throws `ValidationError`. */
  call(
    { inventory, validator }: LiveServer,
    toolName: string,
    args: Arguments,
    context: ErrorContext,
  ): { tool: Tool; args: Arguments } {
    const { server, metrics, onRefused } = this.#deps
    const name = `${server}.${toolName}`
    const tool = inventory.tools.get(toolName)
    if (tool === undefined) {
      if (inventory.isDenied(toolName)) onRefused(toolName, 'the tool is not allowed')
      throw new ValidationError(`there is no tool "${name}"`, [], context)
    }
    const verdict = validator.validate(tool, args)
    if (verdict.kind === 'valid') return { tool, args: verdict.args }
    if (verdict.kind === 'unusable-schema' && validator.mode !== 'strict') {
      const { reason } = verdict
      const message = `arguments of "${name}" are not checked: its schema is unusable`
      this.#warn(tool.inputSchema, { tool: toolName, reason }, message)
      return { tool, args }
    }
    const meter = metrics.meter(server, toolName)
    meter.started()
    meter.ended('refused', 0)
    if (verdict.kind === 'unusable-schema') {
      const message = `the tool "${name}" cannot be called, its schema is unusable: ${verdict.reason}`
      throw new ValidationError(message, [], context)
    }
    const words = summarise(verdict.issues)
    if (verdict.isSuspicious === true) onRefused(toolName, words)
    throw new ValidationError(`${name}: ${words}`, verdict.issues, context)
  }

  /** Throws `ProtocolError` when it is no result, is too much, or breaks its schema where that is applied strictly. */
  result({ validator }: LiveServer, tool: Tool, received: unknown, context: ErrorContext): void {
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
    if (verdict.kind === 'valid') return
    if (verdict.kind === 'unusable-schema') {
      const about = { tool: tool.name, reason: verdict.reason }
      const message = `results of "${name}" are not checked: its output schema is unusable`
      return this.#warn(outputSchema, about, message)
    }
    const issues = summarise(verdict.issues)
    const message = `${name} answered with a result that breaks its own output schema: ${issues}`
    if (validator.mode === 'strict') throw new ProtocolError(message, undefined, context)
    // The tool has done its work: without its answer a caller would do it again.
    this.#warn(outputSchema, { tool: tool.name }, message)
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
