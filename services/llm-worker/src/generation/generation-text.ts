import type { ContentBlock, GenerationId, TextDelta } from '@mcp-host/contracts'
import type { ProviderMetadata } from '../model.ts'

type Run = { kind: 'text' | 'reasoning'; text: string; providerMetadata?: ProviderMetadata }

/**
 * The text of a generation so far. Text and reasoning share one count of UTF-16 units, so that one offset covers both.
 */
export class GenerationText {
  readonly #generation: GenerationId
  readonly #blocks: (Run | (ContentBlock & { type: 'tool-call' }))[] = []
  #length = 0
  #open: Run | undefined

  constructor(generation: GenerationId) {
    this.#generation = generation
  }

  get length(): number {
    return this.#length
  }

  append(kind: 'text' | 'reasoning', text: string): TextDelta {
    if (this.#open?.kind !== kind) {
      this.#open = { kind, text: '' }
      this.#blocks.push(this.#open)
    }
    const delta = { generation: this.#generation, offset: this.#length, kind, text }
    this.#open.text += text
    this.#length += text.length
    return delta
  }

  /** Ends the last text or reasoning, which was of this kind. Readers of the live text see it after their next load. */
  relabel(kind: 'text' | 'reasoning'): void {
    const run = this.#blocks.at(-1)
    if (run !== undefined && 'kind' in run) run.kind = kind
    this.#open = undefined
  }

  /** Ends the current block. Metadata without text makes a block, too. */
  endBlock(providerMetadata: ProviderMetadata | undefined): void {
    if (providerMetadata !== undefined) {
      if (this.#open === undefined) this.append('reasoning', '')
      if (this.#open !== undefined) this.#open.providerMetadata = providerMetadata
    }
    this.#open = undefined
  }

  addToolCall(block: ContentBlock & { type: 'tool-call' }): void {
    this.#open = undefined
    this.#blocks.push(block)
  }

  /** The text from an offset on, with one delta for each block. */
  since(offset: number): TextDelta[] {
    const deltas: TextDelta[] = []
    let start = 0
    for (const block of this.#blocks) {
      if ('type' in block) continue
      const skip = Math.max(0, offset - start)
      if (skip < block.text.length) {
        deltas.push({
          generation: this.#generation,
          offset: start + skip,
          kind: block.kind,
          text: block.text.slice(skip),
        })
      }
      start += block.text.length
    }
    return deltas
  }

  content(): ContentBlock[] {
    return this.#blocks.map((block) => {
      if ('type' in block) return block
      const { kind, text, providerMetadata } = block
      // Providers put only JSON there, and the contract validates it.
      const metadata = providerMetadata as ContentBlock['providerMetadata']
      return metadata === undefined
        ? { type: kind, text }
        : { type: kind, text, providerMetadata: metadata }
    })
  }
}
