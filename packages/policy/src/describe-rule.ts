import type { Policy } from './policy-file.ts'
import { ITEM_KINDS } from './policy-file.ts'

type Rule = Policy['rules'][number]

/** A rule on one line, as `approve tool files.delete_* for admin`. */
export function describeRule(rule: Rule): string {
  const { effect, roles = [], users = [], arguments: args, annotation } = rule
  const who = [...roles.map((role) => `role ${role}`), ...users]
  const parts = [
    effect,
    itemsOf(rule),
    annotation === undefined ? '' : `that is ${annotation}`,
    roles.length > 0 && users.length > 0
      ? `for ${users.join(' or ')} with role ${roles.join(' or ')}`
      : who.length === 0
        ? ''
        : `for ${who.join(' or ')}`,
    args === undefined
      ? ''
      : `if ${Object.entries(args)
          .map(([path, patterns]) => `${path} is ${patterns.join(' or ')}`)
          .join(' and ')}`,
  ]
  return parts.filter((part) => part !== '').join(' ')
}

/** The items that a rule is about. One without a kind is about everything of its servers. */
function itemsOf({ server = ['*'], annotation, arguments: args, ...rule }: Rule): string {
  const named = ITEM_KINDS.flatMap((kind) => {
    const names = rule[kind]
    if (names === undefined) return []
    const items = server.flatMap((each) => names.map((name) => `${each}.${name}`))
    return [`${kind} ${items.join(' or ')}`]
  })
  if (named.length > 0) return named.join(' or ')
  const isAboutTools = annotation !== undefined || args !== undefined
  const of = server.join(' or ')
  if (isAboutTools) return `tool ${server.map((each) => `${each}.*`).join(' or ')}`
  return of === '*' ? 'everything' : `everything of ${of}`
}
