import { needsKey, providers } from '../providers/index.ts'

/**
 * How a user gets a real model instead of the demo model. `incomplete`: what each provider lacks that was configured in
 * part, in words that follow its name.
 */
export function realModelHint(incomplete: ReadonlyMap<string, string>): string {
  const lacks = Array.from(incomplete, ([name, lack]) => `${name} ${lack}`)
  if (lacks.length > 0) return `For a real model: ${lacks.join('; ')}.`
  const keys = Object.values(providers).flatMap((each) =>
    needsKey(each) ? (each.keyVariable ?? []) : [],
  )
  return `For a real model, set the key of a provider: ${keys.join(', ')}.`
}
