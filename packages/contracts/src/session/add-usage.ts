import type { ModelUsage } from '../model/content.ts'
import type { GenerationResult } from './generation-result.ts'

const COUNTS = [
  'inputTokens',
  'outputTokens',
  'reasoningTokens',
  'cachedInputTokens',
  'cost',
] as const

/** Adds what a generation took to the sums by model. What the provider did not count stays absent. */
export function addUsage(
  sums: ModelUsage[],
  { provider, model, usage }: Pick<GenerationResult, 'provider' | 'model' | 'usage'>,
): void {
  let sum = sums.find((each) => each.provider === provider && each.model === model)
  if (sum === undefined) sums.push((sum = { provider, model, generations: 0 }))
  sum.generations++
  for (const count of COUNTS) {
    const more = usage?.[count]
    if (more !== undefined) sum[count] = (sum[count] ?? 0) + more
  }
}
