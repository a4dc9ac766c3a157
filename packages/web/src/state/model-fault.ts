import type { Models } from '@mcp-host/client'

/** Why no model can answer, in words; `undefined` when one can, as far as it is known. */
export function modelFault(known: Models | undefined): string | undefined {
  if (known === undefined) return undefined
  if (known.default === undefined) return 'No model is ready. Messages wait until there is one.'
  const { provider } = known.default
  const error = known.providers.find((each) => each.provider === provider)?.error
  if (error === undefined) return undefined
  // Most errors begin with the name of the provider.
  const why = error.startsWith(`${provider} `) ? error.slice(provider.length + 1) : error
  return `Answers may fail: ${provider} did not list its models (${why}). Choose another model, or check the settings of the provider.`
}
