import type { ReactNode } from 'react'
import { useEffect, useState } from 'react'
import { CodeBlock } from './code-block.tsx'
import { ToggleButton } from '../parts/toggle-button.tsx'
import { messageOf } from '../state/message-of.ts'
import { useIsDark } from '../state/use-is-dark.ts'
import { DiagramQueue } from './diagram-queue.ts'
import { drawDiagram } from './draw-diagram.ts'

const queue = new DiagramQueue(drawDiagram)

type Result = { readonly picture: string } | { readonly fault: string }

/** A diagram as a picture; its source until it is drawn, where it is faulty, and when the user wants it. */
export function Diagram({ code }: { readonly code: string }): ReactNode {
  const result = useDrawn(code)
  const [isSource, setIsSource] = useState(false)
  if (result === undefined) return <CodeBlock code={code} language="mermaid" />
  if ('fault' in result) {
    const [reason] = result.fault.split('\n', 1)
    const note = <p className="note">The diagram cannot be drawn: {reason}</p>
    return <CodeBlock code={code} language="mermaid" note={note} />
  }
  const toggle = <ToggleButton label="Source" isOn={isSource} onChange={setIsSource} />
  return (
    <CodeBlock code={code} language="mermaid" controls={toggle}>
      {isSource ? undefined : <img className="diagram" src={result.picture} alt="Diagram" />}
    </CodeBlock>
  )
}

function useDrawn(source: string): Result | undefined {
  const isDark = useIsDark()
  const [result, setResult] = useState<Result>()
  useEffect(() => {
    const end = new AbortController()
    const show = (drawn: Result): void => {
      if (!end.signal.aborted) setResult(drawn)
    }
    queue.draw({ source, isDark }, end.signal).then(
      (picture) => show({ picture }),
      (error: unknown) => show({ fault: messageOf(error) }),
    )
    return () => end.abort()
  }, [source, isDark])
  return result
}
