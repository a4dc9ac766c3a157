/** The names between braces in a subject template: `'gen.{generation}.ctl'` → `'generation'`. */
export type SubjectParam<S extends string> = S extends `${string}{${infer P}}${infer Rest}`
  ? P | SubjectParam<Rest>
  : never

export type SubjectParams<S extends string> = { readonly [P in SubjectParam<S>]: string }

/** One token of a subject: no dots, wildcards or white space, so that nothing can widen a subject. */
const TOKEN = /^[A-Za-z0-9_-]+$/

interface Token {
  readonly text: string
  /** The name between braces. */
  readonly param: string | undefined
}

/** Templates taken apart: there are few, and every message goes through one. */
const known = new Map<string, readonly Token[]>()

function tokensOf(template: string): readonly Token[] {
  const cached = known.get(template)
  if (cached !== undefined) return cached
  const tokens = template
    .split('.')
    .map((text) => ({ text, param: text.startsWith('{') ? text.slice(1, -1) : undefined }))
  known.set(template, tokens)
  return tokens
}

/** The subject with every brace filled. Throws a `TypeError` when a value is not a single token. */
export function fillSubject<S extends string>(template: S, params: SubjectParams<S>): string {
  const values: Readonly<Record<string, string | undefined>> = params
  let subject = ''
  for (const { text, param } of tokensOf(template)) {
    const value = param === undefined ? text : values[param]
    if (value === undefined || (param !== undefined && !TOKEN.test(value))) {
      throw new TypeError(`subject ${template}: ${param} must match ${TOKEN}, not ${value}`)
    }
    subject += subject === '' ? value : `.${value}`
  }
  return subject
}

/** The values of the braces, or `undefined` when the subject is not of this template. */
export function matchSubject<S extends string>(
  template: S,
  subject: string,
): SubjectParams<S> | undefined {
  const wanted = tokensOf(template)
  const given = subject.split('.')
  if (wanted.length !== given.length) return undefined
  const params: Record<string, string> = {}
  for (const [index, { text, param }] of wanted.entries()) {
    const value = given[index] ?? ''
    if (param !== undefined) params[param] = value
    else if (text !== value) return undefined
  }
  return params as SubjectParams<S>
}
