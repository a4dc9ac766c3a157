import type { ReactNode } from 'react'
import { useLayoutEffect, useMemo, useRef, useState } from 'react'
import { safeLink } from '../markdown/links.ts'
import { focusAround } from '../parts/focus-around.ts'
import { Mark } from '../parts/icon.tsx'
import { ToolId } from '../parts/tool-id.tsx'
import type { ChatSession } from '../state/chat-session.ts'
import { login } from '../state/login.ts'
import { useStore } from '../state/store.ts'
import type { QuestionItem } from '../state/turn.ts'
import { ToolArguments } from '../parts/tool-arguments.tsx'
import { isLogin, LoginPage } from './login-page.tsx'
import { readFields, readValues } from './fields.ts'
import type { FormValues } from '../state/form-values.ts'
import { FormFields } from './form-fields.tsx'
import { questionEnd } from '../state/question-end.ts'
import { Fault } from '../parts/fault.tsx'

export interface QuestionViewProps {
  readonly item: QuestionItem
  /** Absent where the question is only read. */
  readonly session?: ChatSession | undefined
}

/** A question of a tool, or a request for permission, in the flow of the conversation. */
export function QuestionView({ item, session }: QuestionViewProps): ReactNode {
  const { question, end } = item
  const known = useStore(login)
  const name = `${question.server} ${question.tool}`
  if (end !== undefined) {
    const principalId = 'principal' in known ? known.principal.id : undefined
    return (
      <p className="note">
        {questionEnd(question, end, principalId)}:{' '}
        <ToolId server={question.server} tool={question.tool} />
      </p>
    )
  }
  return (
    <section className="asks" aria-label={`Question of ${name}`}>
      <header className="asks-head">
        <Mark name="waits" />
        <h3>
          {question.mode === 'approval' ? 'Allow ' : ''}
          <ToolId server={question.server} tool={question.tool} />
          {question.mode === 'approval' ? '?' : isLogin(question) ? ' needs you' : ' asks you'}
        </h3>
      </header>
      {/* The title of a request for permission says all. */}
      {question.mode !== 'approval' && <p>{question.message}</p>}
      {session !== undefined && <OpenQuestion item={item} session={session} />}
    </section>
  )
}

function OpenQuestion(props: {
  readonly item: QuestionItem
  readonly session: ChatSession
}): ReactNode {
  const {
    item: { question },
    session,
  } = props
  const { id, mode, requestedSchema, url = '' } = question
  const fields = useMemo(() => readFields(requestedSchema ?? {}), [requestedSchema])
  const [values, setValues] = useState<FormValues>(session.entered.get(id) ?? new Map())
  const change = (next: FormValues): void => {
    setValues(next)
    session.entered.set(id, next)
  }
  const form = useRef<HTMLFormElement>(null)
  useLayoutEffect(() => {
    const element = form.current
    // This form is removed when the question is answered, in this tab or another one, and when it expires.
    return () => {
      if (element?.contains(document.activeElement) === true) focusAround(element, 'article')
    }
  }, [])
  const [fault, setFault] = useState<string>()
  const [isSending, setIsSending] = useState(false)
  const answer = async (action: 'accept' | 'decline'): Promise<void> => {
    if (isSending) return
    setIsSending(true)
    setFault(undefined)
    const hasContent = action === 'accept' && mode === 'form'
    try {
      await session.answer({
        id,
        action,
        ...(hasContent ? { content: readValues(fields, values) } : {}),
      })
    } catch (error) {
      setIsSending(false)
      setFault(error instanceof Error ? error.message : String(error))
    }
  }
  const submit = (event: React.FormEvent): void => {
    event.preventDefault()
    void answer('accept')
  }
  const link = mode === 'url' ? safeLink(url) : undefined
  const isOfHost = isLogin(question)
  return (
    <form ref={form} onSubmit={submit}>
      {mode === 'approval' && <ToolArguments given={question.arguments} />}
      {mode === 'form' && <FormFields fields={fields} values={values} onChange={change} />}
      {isOfHost && <LoginPage link={url} />}
      {mode === 'url' && !isOfHost && <PageToVisit link={link} url={url} />}
      <Fault fault={fault} />
      <div className="asks-foot">
        {isOfHost ? (
          <span className="note">The call goes on by itself when you are back.</span>
        ) : (
          <button type="submit" className="move" aria-disabled={isSending}>
            {mode === 'approval' ? 'Allow' : mode === 'url' ? 'I have done it' : 'Send answer'}
          </button>
        )}
        <button type="button" aria-disabled={isSending} onClick={() => void answer('decline')}>
          {mode === 'approval' ? 'Do not allow' : 'Decline'}
        </button>
      </div>
    </form>
  )
}

/** A server may name any page: the user sees which one, and only a click opens it. */
function PageToVisit({
  link,
  url,
}: {
  readonly link: string | undefined
  readonly url: string
}): ReactNode {
  const { host = '' } = link === undefined ? {} : new URL(link)
  if (host === '') return <p className="note bad">The address is not a web page: {url}</p>
  return (
    <>
      <p className="note">
        This leads to {host}, outside of this page. Open it only if you trust that site, and enter
        nothing there that you would not tell it.
      </p>
      <pre tabIndex={0}>{link}</pre>
      <p>
        <a href={link} target="_blank" rel="noopener noreferrer">
          Open {host} in a new tab
        </a>
      </p>
    </>
  )
}
