import type { GenerationResult } from '@mcp-host/contracts'
import type { Registry } from 'prom-client'
import { Counter, Gauge, Histogram } from 'prom-client'
import type { Model } from './model.ts'

export interface WorkerEvents {
  generationStarted(model: Model): {
    firstText(): void
    /** The generation was asked to end. */
    cancelRequested(): void
    ended(outcome: GenerationResult['outcome']): void
  }
}

/** The metrics of workers. */
export function workerEvents(registry: Registry): WorkerEvents {
  const registers = [registry]
  const generations = new Counter({
    name: 'mcp_host_generations_total',
    help: 'Generations by how they ended',
    labelNames: ['provider', 'model', 'outcome'],
    registers,
  })
  const running = new Gauge({
    name: 'mcp_host_generations_running',
    help: 'Generations under way',
    registers,
  })
  const firstText = new Histogram({
    name: 'mcp_host_generation_first_text_seconds',
    help: 'From the accepted request to the first text or reasoning of the provider',
    labelNames: ['provider', 'model'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  })
  const cancel = new Histogram({
    name: 'mcp_host_generation_cancel_seconds',
    help: 'From the request to cancel a generation until its provider was left',
    labelNames: ['provider', 'model'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 1, 5],
    registers,
  })
  return {
    generationStarted({ countedAs, ...asked }) {
      const { provider, model } = countedAs ?? asked
      running.inc()
      const stopTimer = firstText.startTimer({ provider, model })
      let stopCancelTimer: (() => void) | undefined
      return {
        firstText: () => void stopTimer(),
        cancelRequested() {
          stopCancelTimer ??= cancel.startTimer({ provider, model })
        },
        ended(outcome) {
          running.dec()
          if (outcome === 'cancelled') stopCancelTimer?.()
          generations.inc({ provider, model, outcome })
        },
      }
    },
  }
}
