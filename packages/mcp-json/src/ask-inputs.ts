import { FaultList } from './document/fault-list.ts'
import { findEntries } from './clients/find-entries.ts'
import { type ConfigInput, declaredInputs, referredInputs } from './values/find-inputs.ts'
import { toOwnForm } from './clients/master-mcp-server/to-own-form.ts'
import { parseSyntax } from './document/parse-syntax.ts'

/** Asks a person for a value of the configuration; `undefined` when there is none. */
export type AskInput = (input: ConfigInput) => string | undefined | Promise<string | undefined>

/**
 * Returns the value of every `${input:id}` that enabled servers refer to: the `known` values, and answers to questions
 * for the rest, asked one after another. A faulty configuration asks nothing; `parseMcpConfig` reports its faults.
 * `file`: the path of the text's file, which may be YAML.
 */
export async function askInputs(
  text: string,
  ask: AskInput,
  known: Readonly<Record<string, string>>,
  file?: string,
): Promise<Record<string, string>> {
  let answers = { ...known }
  const faults = new FaultList(text, { hasLines: false, isStrict: false })
  const written = parseSyntax(text, file, faults)
  const root = written && toOwnForm(written, faults)
  if (root === undefined || faults.count > 0) return answers
  const enabled = findEntries(root, faults, []).filter(({ isDisabled }) => !isDisabled)
  const ids = new Set(enabled.flatMap(({ node }) => referredInputs(node)))
  const declared = declaredInputs(root)
  for (const id of ids) {
    if (Object.hasOwn(answers, id)) continue
    const answer = await ask(declared.get(id) ?? { id })
    if (answer !== undefined) answers = { ...answers, [id]: answer }
  }
  return answers
}
