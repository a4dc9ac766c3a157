import type { Tool, ToolAnswer } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { useMemo, useState } from 'react'
import { fieldsOf, readValues } from '../ask/fields.ts'
import type { Values } from '../ask/form-fields.tsx'
import { FormFields } from '../ask/form-fields.tsx'
import { host } from '../state/host.ts'
import { parseObject } from '../state/parse-object.ts'
import { pretty } from '../state/pretty.ts'
import { ToolContent } from '../thread/tool-content.tsx'

/** A tool: what it does, its schema, and a form that calls it. `prefix`: of its server, before its own name. */
export function ToolRow({
  tool,
  prefix,
}: {
  readonly tool: Tool
  readonly prefix: string
}): ReactNode {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <details className="tool" onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>
        <span className="tool-name">{tool.name.slice(prefix.length)}</span>
        <span className="tool-about">{tool.description}</span>
      </summary>
      {isOpen && <TryIt tool={tool} />}
    </details>
  )
}

/** Fields of other types are written as JSON. */
function isFlat(schema: Readonly<Record<string, unknown>>): boolean {
  const properties = Object.values(schema['properties'] ?? {}) as { readonly type?: unknown }[]
  return properties.every(({ type }) =>
    ['string', 'number', 'integer', 'boolean'].includes(String(type)),
  )
}

function TryIt({ tool }: { readonly tool: Tool }): ReactNode {
  const fields = useMemo(() => fieldsOf(tool.inputSchema), [tool])
  const hasForm = isFlat(tool.inputSchema)
  const [values, setValues] = useState<Values>(new Map())
  const [json, setJson] = useState('{}')
  const [answer, setAnswer] = useState<ToolAnswer>()
  const [fault, setFault] = useState<string>()
  const [isRunning, setIsRunning] = useState(false)
  const call = async (event: React.FormEvent): Promise<void> => {
    event.preventDefault()
    setIsRunning(true)
    setFault(undefined)
    try {
      const given = hasForm ? readValues(fields, values) : parseObject(json, 'Arguments as JSON')
      setAnswer(await host.callTool(tool.name, given))
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error))
    } finally {
      setIsRunning(false)
    }
  }
  return (
    <>
      <form aria-label={`Try ${tool.name}`} onSubmit={(event) => void call(event)}>
        {hasForm ? (
          <FormFields fields={fields} values={values} onChange={setValues} />
        ) : (
          <label className="field">
            Arguments as JSON
            <textarea value={json} rows={4} onChange={({ target }) => setJson(target.value)} />
          </label>
        )}
        <button type="submit" className="primary" disabled={isRunning}>
          {isRunning ? 'Running' : 'Try it'}
        </button>
      </form>
      {fault !== undefined && (
        <p role="alert" className="note bad">
          {fault}
        </p>
      )}
      {answer !== undefined && (
        <ToolContent
          session=""
          result={{ ...answer, outcome: answer.isError === true ? 'error' : 'ok' }}
        />
      )}
      <details>
        <summary>Schema</summary>
        <pre tabIndex={0}>{pretty(tool.inputSchema)}</pre>
      </details>
    </>
  )
}
