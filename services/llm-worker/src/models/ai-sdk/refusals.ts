import { hash } from 'node:crypto'
import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import { UnsupportedFunctionalityError } from '@ai-sdk/provider'
import type { Media } from '@mcp-host/contracts'
import { toBusError } from './error.ts'
import { readFailure } from '../../providers/definition/provider-failure.ts'
import { namedTools } from './tools.ts'

/** Statuses with which providers and local servers refuse a part of a request. llama.cpp has 500, OpenRouter 404. */
const REFUSED: readonly unknown[] = [400, 404, 415, 422, 500, 501]
/** The statuses of a request that is refused as invalid, whatever the words. */
const INVALID: readonly unknown[] = [400, 415, 422]
const ABOUT_FILES = /\b(?:images?|pictures?|vision|multimodal|mmproj|files?|audio|video)\b/
const ABOUT_ROLES = /\broles?\b|alternat/
const WITHOUT_TOOLS = [
  /\b(?:tools?|functions?)\b.{0,60}(?:not (?:supported|enabled|available|allowed|permitted)|unsupported|requires)/,
  /(?:\bno\b|\bnot|n't|unsupported).{0,40}\b(?:tools?|functions?)\b/,
]
/** Longer messages are not searched. */
const MAX_LENGTH = 8_000
/** Limit for files that are tried one at a time, to find the one that is refused. */
const MAX_TRIED = 3
/** Limit for remembered files of a model. */
const MAX_FILES = 1_000

const digests = new WeakMap<Media, string>()

/** What is sent of a request. */
export interface Plan {
  readonly tools: readonly LanguageModelV4FunctionTool[]
  /** Tools that a refusal named, which are confirmed by the next answer. */
  readonly suspects: readonly LanguageModelV4FunctionTool[]
  /** Whether the provider says that the model has no tools. */
  readonly isToolless: boolean
  readonly hidden: ReadonlySet<Media>
  /** The sets of files that are left out next, if the request is refused again. */
  readonly nextHidden: readonly ReadonlySet<Media>[]
  readonly isAlternating: boolean
  readonly isWithReasoning: boolean
}

/**
 * What one model has refused. Later requests leave it out at once. A tool is offered again when its schema changes.
 */
export class Refusals {
  /** The refused schemas as JSON, by tool name. */
  readonly #tools = new Map<string, string>()
  /** Digests of files, and whether the model has accepted them. */
  readonly #files = new Map<string, boolean>()
  #isToolless = false
  #isAlternating = false
  #isWithReasoning = false

  /** The first plan for a request. */
  plan(tools: readonly LanguageModelV4FunctionTool[], files: readonly Media[]): Plan {
    const hidden = new Set(files.filter((file) => this.#isAccepted(file) === false))
    const shown = files.filter((file) => !hidden.has(file))
    const unknown = shown.filter((file) => this.#isAccepted(file) === undefined)
    const single = unknown.length > 1 && unknown.length <= MAX_TRIED ? unknown : []
    const sets = [...single.map((file) => [file]), unknown, shown].filter(
      ({ length }) => length > 0,
    )
    return {
      tools: this.#isToolless ? [] : tools.filter((tool) => !this.#isRefused(tool)),
      suspects: [],
      isToolless: this.#isToolless,
      hidden,
      nextHidden: sets.map((more) => new Set([...hidden, ...more])),
      isAlternating: this.#isAlternating,
      isWithReasoning: this.#isWithReasoning,
    }
  }

  /** The plan after a refusal; `undefined` when no other one may help. */
  next(plan: Plan, error: unknown): Plan | undefined {
    const isUnsupported = UnsupportedFunctionalityError.isInstance(error)
    const failure = readFailure(error)
    const { status, message = '', codes = '' } = failure ?? {}
    const says = `${codes} ${message}`.slice(0, MAX_LENGTH)
    if (failure !== undefined) this.#confirm(plan, says)
    if (!isUnsupported && !REFUSED.includes(status)) return undefined
    const { code, reason } = toBusError('', error)
    if (reason !== undefined || code === 'denied') return undefined
    const named = namedTools(says, plan.tools)
    if (named.length > 0) {
      const tools = plan.tools.filter((tool) => !named.includes(tool))
      return { ...plan, tools, suspects: [...plan.suspects, ...named] }
    }
    const words = says.toLowerCase()
    // DeepSeek wants the reasoning before a tool call back.
    if (words.includes('reasoning_content') && !plan.isWithReasoning) {
      return { ...plan, isWithReasoning: true }
    }
    if (ABOUT_ROLES.test(words) && !plan.isAlternating) return { ...plan, isAlternating: true }
    const isToolless = WITHOUT_TOOLS.some((pattern) => pattern.test(words))
    // The rest of the tools goes, too, when the request is still refused without those that were named.
    if (plan.tools.length > 0 && (isToolless || plan.suspects.length > 0)) {
      return { ...plan, tools: [], isToolless }
    }
    // Providers do not list which models read images, and their error texts vary.
    const mayBeFiles = isUnsupported || INVALID.includes(status) || ABOUT_FILES.test(words)
    const [hidden, ...nextHidden] = mayBeFiles ? plan.nextHidden : []
    return hidden === undefined ? undefined : { ...plan, hidden, nextHidden }
  }

  /** Remembers what was left out of a request that succeeded. */
  accept(plan: Plan, files: readonly Media[]): void {
    this.#confirm(plan, '')
    this.#isToolless ||= plan.isToolless
    this.#isAlternating ||= plan.isAlternating
    this.#isWithReasoning ||= plan.isWithReasoning
    for (const file of files) this.#note(file, !plan.hidden.has(file))
  }

  /** Remembers the suspects, except those that are still named although they were left out. */
  #confirm({ suspects }: Plan, says: string): void {
    const still = namedTools(says, suspects)
    for (const tool of suspects) {
      if (!still.includes(tool)) this.#tools.set(tool.name, JSON.stringify(tool.inputSchema))
    }
  }

  #isRefused({ name, inputSchema }: LanguageModelV4FunctionTool): boolean {
    return this.#tools.has(name) && this.#tools.get(name) === JSON.stringify(inputSchema)
  }

  #isAccepted(file: Media): boolean | undefined {
    return this.#files.get(digest(file))
  }

  #note(file: Media, isAccepted: boolean): void {
    const key = digest(file)
    this.#files.delete(key)
    this.#files.set(key, isAccepted)
    const [oldest] = this.#files.keys()
    if (this.#files.size > MAX_FILES && oldest !== undefined) this.#files.delete(oldest)
  }
}

function digest(file: Media): string {
  const known = digests.get(file)
  if (known !== undefined) return known
  const made = hash('sha1', file.mimeType + (file.data ?? ''))
  digests.set(file, made)
  return made
}
