import type { ModelUsage, Usage } from '../model/content.ts'

const COUNTS = [
  'inputTokens',
  'outputTokens',
  'reasoningTokens',
  'cachedInputTokens',
  'cost',
] as const

/** Usage of several generations of one model. */
export interface AddedUsage {
  readonly provider: string
  readonly model: string
  readonly usage?: Usage | undefined
  readonly generations?: number
}

/** Adds the usage of generations to the sums by model. Numbers that no provider counted stay absent. */
export function addUsage(
  sums: ModelUsage[],
  { provider, model, usage, generations = 1 }: AddedUsage,
): void {
  let sum = sums.find((each) => each.provider === provider && each.model === model)
  if (sum === undefined) sums.push((sum = { provider, model, generations: 0 }))
  sum.generations += generations
  if (usage?.isEstimate === true) sum.isEstimate = true
  for (const count of COUNTS) {
    const more = usage?.[count]
    if (more !== undefined) sum[count] = (sum[count] ?? 0) + more
  }
}
