/** The names between braces in a subject template: `'gen.{generation}.ctl'` → `'generation'`. */
export type SubjectParam<S extends string> = S extends `${string}{${infer P}}${infer Rest}`
  ? P | SubjectParam<Rest>
  : never

export type SubjectParams<S extends string> = { readonly [P in SubjectParam<S>]: string }

/** One token of a subject: no dots, wildcards or white space, so that nothing can widen a subject. */
const TOKEN = /^[A-Za-z0-9_-]+$/

/** The subject with every brace filled. Throws a `TypeError` when a value is not a single token. */
export function fillSubject<S extends string>(template: S, params: SubjectParams<S>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = (params as Record<string, string | undefined>)[name]
    if (value === undefined || !TOKEN.test(value)) {
      throw new TypeError(`subject ${template}: ${name} must match ${TOKEN}, not ${String(value)}`)
    }
    return value
  })
}

/** The subscription pattern: given braces filled, the others `*`. */
export function subjectPattern<S extends string>(
  template: S,
  params: Partial<SubjectParams<S>> = {},
): string {
  return template.replaceAll(/\{(\w+)\}/g, (brace, name: string) => {
    const value = (params as Record<string, string | undefined>)[name]
    return value === undefined ? '*' : fillSubject(brace, { [name]: value })
  })
}

/** The values of the braces, or `undefined` when the subject is not of this template. */
export function matchSubject<S extends string>(
  template: S,
  subject: string,
): SubjectParams<S> | undefined {
  const wanted = template.split('.')
  const given = subject.split('.')
  if (wanted.length !== given.length) return undefined
  const params: Record<string, string> = {}
  for (const [index, token] of wanted.entries()) {
    const value = given[index] ?? ''
    if (token.startsWith('{')) params[token.slice(1, -1)] = value
    else if (token !== value) return undefined
  }
  return params as SubjectParams<S>
}
