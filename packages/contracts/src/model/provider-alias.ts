/** Other common names of providers. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['claude', 'anthropic'],
  ['grok', 'xai'],
])

/**
 * A reference, `provider/model` or `provider`, with the name of the provider instead of an alias. A configured provider
 * may itself have the name of an alias.
 */
export function withoutAlias(
  reference: string,
  isConfigured: (provider: string) => boolean = () => false,
): string {
  const [name = ''] = reference.split('/', 1)
  const provider = isConfigured(name) ? name : (ALIASES.get(name) ?? name)
  return `${provider}${reference.slice(name.length)}`
}
