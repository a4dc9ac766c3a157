/** Other names that people know providers by. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['claude', 'anthropic'],
  ['grok', 'xai'],
])

/**
 * A reference, `provider/model` or `provider`, with the provider's own name in place of an alias. A configured
 * provider whose name is an alias keeps it.
 */
export function withoutAlias(
  reference: string,
  isConfigured: (provider: string) => boolean = () => false,
): string {
  const [name = ''] = reference.split('/', 1)
  const provider = isConfigured(name) ? name : (ALIASES.get(name) ?? name)
  return `${provider}${reference.slice(name.length)}`
}
