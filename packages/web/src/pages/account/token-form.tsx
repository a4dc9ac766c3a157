import type { ReactNode } from 'react'
import { useState } from 'react'

interface TokenFormProps {
  readonly server: string
  readonly onToken: (label: string, token: string) => void
}

/** Logs in at a server by a token, which the user got there. */
export function TokenForm({ server, onToken }: TokenFormProps): ReactNode {
  const [token, setToken] = useState('')
  const [label, setLabel] = useState('')
  return (
    <details>
      <summary>Use a token of yours</summary>
      <form
        className="actions"
        onSubmit={(event) => {
          event.preventDefault()
          onToken(label.trim() || 'default', token.trim())
          setToken('')
        }}
      >
        <input
          type="password"
          aria-label={`Token or API key for ${server}`}
          placeholder="Token or API key"
          value={token}
          required
          autoComplete="off"
          onChange={({ target }) => setToken(target.value)}
        />
        <input
          aria-label={`Name of the account at ${server}`}
          placeholder="default"
          value={label}
          maxLength={60}
          onChange={({ target }) => setLabel(target.value)}
        />
        <button type="submit">Log in</button>
      </form>
    </details>
  )
}
