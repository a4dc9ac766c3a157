import type { Explanation, Tool } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { useState } from 'react'
import { listOf } from '../../state/list-of.ts'
import { Fault } from '../../parts/fault.tsx'
import { FileFaults } from '../../parts/file-faults.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { Mark } from '../../parts/icon.tsx'
import { admin } from '../../state/admin.ts'
import { host } from '../../state/host.ts'
import { parseObject } from '../../state/parse-object.ts'
import { useLoaded } from '../../state/use-loaded.ts'
import { RuleList } from './rule-list.tsx'

/** Tries the policy: which rule decides about a call, and why. */
export function PolicyPage(): ReactNode {
  return (
    <PageFrame page="policy" title="Policy">
      <p className="note">
        Which rule of policy.json decides about a call, and why the others do not. Nothing is
        called.
      </p>
      <FileFaults settings={['POLICY_CONFIG']} />
      <Explainer />
    </PageFrame>
  )
}

const readTools = (): Promise<Tool[]> => host.tools()

function Explainer(): ReactNode {
  const { value: tools = [] } = useLoaded(readTools)
  const [principal, setPrincipal] = useState('user:')
  const [roles, setRoles] = useState('user')
  const [tool, setTool] = useState('')
  const [json, setJson] = useState('{}')
  const [answer, setAnswer] = useState<Explanation>()
  const [fault, setFault] = useState<Error>()
  const explain = async (event: React.FormEvent): Promise<void> => {
    event.preventDefault()
    setFault(undefined)
    setAnswer(undefined)
    try {
      setAnswer(
        await admin.explain({
          principal: principal.trim(),
          roles: listOf(roles),
          ...placeOf(tool.trim()),
          arguments: parseObject(json, 'Arguments as JSON'),
        }),
      )
    } catch (error) {
      setFault(error instanceof Error ? error : new Error(String(error)))
    }
  }
  return (
    <>
      <form className="fields" aria-label="A call" onSubmit={(event) => void explain(event)}>
        <label className="field">
          Principal
          <input required value={principal} onChange={({ target }) => setPrincipal(target.value)} />
        </label>
        <label className="field">
          Roles, by commas
          <input value={roles} onChange={({ target }) => setRoles(target.value)} />
        </label>
        <label className="field">
          Tool, as server.tool
          <input
            required
            list="tools"
            pattern=".+\..+"
            value={tool}
            onChange={({ target }) => setTool(target.value)}
          />
        </label>
        <datalist id="tools">
          {tools.map(({ name }) => (
            <option key={name} value={name.replace('__', '.')} />
          ))}
        </datalist>
        <label className="field wide">
          Arguments as JSON
          <textarea rows={3} value={json} onChange={({ target }) => setJson(target.value)} />
        </label>
        <button type="submit" className="primary">
          Explain
        </button>
      </form>
      <Fault fault={fault} />
      {answer !== undefined && <Answer answer={answer} />}
    </>
  )
}

function placeOf(name: string): { readonly server: string; readonly tool: string } {
  const dot = name.indexOf('.')
  return { server: name.slice(0, dot), tool: name.slice(dot + 1) }
}

const EFFECTS = {
  allow: { text: 'Allowed', mark: 'ok' },
  deny: { text: 'Denied', mark: 'refused' },
  approve: { text: 'A user has to allow it', mark: 'waits' },
} as const

function Answer({ answer }: { readonly answer: Explanation }): ReactNode {
  const { effect, reason, isKnown, rules } = answer
  const { text, mark } = EFFECTS[effect]
  return (
    <section role="status" aria-label="Decision">
      <p>
        <Mark name={mark} /> <strong>{text}.</strong> {deciderOf(answer)}
      </p>
      {reason !== undefined && <p className="note">The caller is told: {reason}</p>}
      {!isKnown && (
        <p className="note">
          No server lists this tool. What a server says of it counts as unknown.
        </p>
      )}
      {rules.length === 0 ? (
        <p className="note">The policy has no rules. Write some into policy.json.</p>
      ) : (
        <RuleList answer={answer} />
      )}
    </section>
  )
}

function deciderOf({ decidedBy, rule = '', file, rules }: Explanation): string {
  const { line } = rules.find(({ verdict }) => verdict === 'decides') ?? {}
  const place = file === undefined || line === undefined ? '' : `, ${file} line ${line}`
  switch (decidedBy) {
    case 'rule':
      return `Decided by ${rule}${place}.`
    case 'default':
      return 'No rule matches: the default decides.'
    case 'quarantine':
      return 'The definition of the tool has changed, and an admin has not accepted it yet.'
    case 'tool-approval':
      return `Allowed by ${rule === '' ? 'the default' : rule}${place}, but TOOL_APPROVAL asks the user.`
    default:
      return decidedBy satisfies never
  }
}
