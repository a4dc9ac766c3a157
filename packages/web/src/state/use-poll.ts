import { useEffect } from 'react'

/** Reads again so many milliseconds after each answer, while the page is visible. `read` never rejects. */
export function usePoll(read: () => Promise<void>, pauseMs: number): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let isOver = false
    const lookLater = (): void => {
      if (!isOver) timer = setTimeout(() => void look(), pauseMs)
    }
    const look = async (): Promise<void> => {
      if (!document.hidden) await read()
      lookLater()
    }
    lookLater()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [read, pauseMs])
}
