import type { Session, SessionWithDetails } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { useEffect, useState } from 'react'
import { ModelPicker } from '../../composer/model-picker.tsx'
import { moveDraft } from '../../state/draft.ts'
import { host } from '../../state/host.ts'
import { messageOf } from '../../state/message-of.ts'
import { openSession } from '../../state/route.ts'
import { touchSessions } from '../../state/session-list.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { ServersChoice } from './servers-choice.tsx'
import { AccountsChoice } from './accounts-choice.tsx'
import { SessionUsage } from './session-usage.tsx'
import { Fault } from '../../parts/fault.tsx'

export interface SessionSettingsProps {
  readonly id: string
  /** Whether nothing was said in it, so that the host does not know it. */
  readonly isNew: boolean
  readonly onClose: () => void
}

/** Settings of one session in place of those of the host. */
export function SessionSettings({ id, isNew, onClose }: SessionSettingsProps): ReactNode {
  const [session, setSession] = useState<Partial<SessionWithDetails> | undefined>(
    isNew ? {} : undefined,
  )
  const [fault, setFault] = useState<string>()
  useEffect(() => {
    if (isNew) return
    host.session(id).then(setSession, (error: unknown) => setFault(messageOf(error)))
  }, [id, isNew])
  return (
    <Dialog title="Settings of this chat" onClose={onClose}>
      <Fault fault={fault} />
      {session !== undefined && (
        <SettingsForm id={id} isNew={isNew} session={session} onDone={onClose} />
      )}
      {session?.usage !== undefined && (
        <SessionUsage session={{ ...session, usage: session.usage }} />
      )}
    </Dialog>
  )
}

interface SettingsFormProps {
  readonly id: string
  readonly isNew: boolean
  readonly session: Partial<Session>
  readonly onDone: () => void
}

function SettingsForm({ id, isNew, session, onDone }: SettingsFormProps): ReactNode {
  const [model, setModel] = useState(session.model)
  const [systemPrompt, setSystemPrompt] = useState(session.systemPrompt ?? '')
  const [temperature, setTemperature] = useState(String(session.temperature ?? ''))
  const [maxToolCalls, setMaxToolCalls] = useState(String(session.maxToolCalls ?? ''))
  const [servers, setServers] = useState<readonly string[] | undefined>(session.servers)
  const [accounts, setAccounts] = useState(session.accounts ?? {})
  const [fault, setFault] = useState<string>()
  const save = async (): Promise<void> => {
    const settings = {
      model: model ?? null,
      systemPrompt: systemPrompt.trim() === '' ? null : systemPrompt,
      temperature: temperature === '' ? null : Number(temperature),
      maxToolCalls: maxToolCalls === '' ? null : Number(maxToolCalls),
      servers: servers ?? null,
      accounts: Object.keys(accounts).length === 0 ? null : accounts,
    }
    try {
      if (isNew) await createWith(id, settings)
      else await host.updateSession(id, settings)
      onDone()
    } catch (error) {
      setFault(messageOf(error))
    }
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <p className="note">Empty fields are as the host is set.</p>
      <div className="field">
        <span>Model of messages that choose none</span>
        <ModelPicker value={model} onChange={setModel} label="Model of the chat" />
      </div>
      <label className="field">
        System prompt
        <textarea
          rows={4}
          maxLength={32_768}
          value={systemPrompt}
          onChange={({ target }) => setSystemPrompt(target.value)}
        />
      </label>
      <label className="field">
        Temperature, 0 to 2
        <input
          type="number"
          min={0}
          max={2}
          step="any"
          value={temperature}
          onChange={({ target }) => setTemperature(target.value)}
        />
      </label>
      <label className="field">
        Tool calls of each turn at most
        <input
          type="number"
          min={0}
          max={1_000}
          value={maxToolCalls}
          onChange={({ target }) => setMaxToolCalls(target.value)}
        />
      </label>
      <ServersChoice value={servers} onChange={setServers} />
      <AccountsChoice value={accounts} onChange={setAccounts} />
      <Fault fault={fault} />
      <div className="actions">
        <button type="submit" className="primary">
          Save
        </button>
      </div>
    </form>
  )
}

/** Begins a session with settings in place of an empty one: the host knows a session before its first message only so. */
async function createWith(
  empty: string,
  settings: Readonly<Record<string, unknown>>,
): Promise<void> {
  const given = Object.entries(settings).filter(([, value]) => value !== null)
  if (given.length === 0) return
  const id = await host.createSession(Object.fromEntries(given))
  moveDraft(empty, id)
  openSession(id)
  touchSessions()
}
