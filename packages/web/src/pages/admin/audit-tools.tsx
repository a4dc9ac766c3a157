import type { AuditQuery, AuditVerification } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { useState } from 'react'
import { Fault } from '../../parts/fault.tsx'
import { Mark } from '../../parts/icon.tsx'
import { admin } from '../../state/admin.ts'
import { verificationText } from '../../state/audit-words.ts'
import { exportAudit } from '../../state/export-audit.ts'
import { timeOf } from '../../state/time-text.ts'

export interface AuditToolsProps {
  /** What is exported. */
  readonly query: AuditQuery
  /** Only readers of all entries may verify them. */
  readonly canVerify: boolean
}

/** Exports the found entries, and verifies the whole log. */
export function AuditTools({ query, canVerify }: AuditToolsProps): ReactNode {
  const [busy, setBusy] = useState<'export' | 'verify'>()
  const [fault, setFault] = useState<Error>()
  const [exported, setExported] = useState<string>()
  const [verified, setVerified] = useState<AuditVerification>()
  const act = async (kind: 'export' | 'verify', action: () => Promise<void>): Promise<void> => {
    if (busy !== undefined) return
    setBusy(kind)
    setFault(undefined)
    try {
      await action()
    } catch (error) {
      setFault(error instanceof Error ? error : new Error(String(error)))
    }
    setBusy(undefined)
  }
  const verify = async (): Promise<void> => {
    setVerified(undefined)
    setVerified(await admin.verifyAudit())
  }
  return (
    <>
      <div className="actions">
        <button
          type="button"
          aria-disabled={busy !== undefined}
          onClick={() => void act('export', async () => setExported(await exportAudit(query)))}
        >
          {busy === 'export' ? 'Exporting' : 'Export'}
        </button>
        {canVerify && (
          <button
            type="button"
            aria-disabled={busy !== undefined}
            onClick={() => void act('verify', verify)}
          >
            {busy === 'verify' ? 'Verifying' : 'Verify'}
          </button>
        )}
        <span role="status" className="note">
          {exported}
        </span>
      </div>
      <Fault fault={fault} />
      {verified !== undefined && <Verified found={verified} />}
    </>
  )
}

function Verified({ found }: { readonly found: AuditVerification }): ReactNode {
  const { faultCount, faults } = found
  return (
    <div role="status" aria-label="Verification">
      <p>
        <Mark name={faultCount === 0 ? 'ok' : 'failed'} /> {verificationText(found)}
      </p>
      {faults.length > 0 && (
        <ul className="note">
          {faults.map(({ kind, writer, seq, time }, index) => (
            // The list is never changed, and an entry may have two faults.
            <li key={index}>
              {kind}: entry {seq} of {writer}, {timeOf(time)}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
