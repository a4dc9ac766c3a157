// Runs in the page, before its own scripts: measures frames of the screen and the way of the first text.
;(() => {
  const frames = []
  const texts = []
  let isMeasuring = false
  let expected
  // The message is handled after style, layout and paint of the frame: what the frame took of the main thread.
  const channel = new MessageChannel()
  let begunAt = 0
  channel.port1.addEventListener('message', () => {
    const now = performance.now()
    if (isMeasuring) frames.push(now - begunAt)
    // The message of the user has the text, too.
    const answer = Array.from(document.querySelectorAll('.answer .markdown')).at(-1)
    if (expected !== undefined && answer?.textContent.includes(expected.text)) {
      texts.push(now - expected.at)
      expected = undefined
    }
  })
  channel.port1.start()
  const onFrame = () => {
    begunAt = performance.now()
    channel.port2.postMessage(undefined)
    requestAnimationFrame(onFrame)
  }
  requestAnimationFrame(onFrame)

  const Plain = globalThis.WebSocket
  globalThis.WebSocket = class extends Plain {
    constructor(...given) {
      super(...given)
      this.addEventListener('message', ({ data }) => {
        const text = /"type":"text".*"content":"(first-\w+)/.exec(data)?.[1]
        if (text !== undefined) expected = { text, at: performance.now() }
      })
    }
  }

  globalThis.probe = {
    begin() {
      frames.length = 0
      isMeasuring = true
    },
    /** Work of each frame in ms. */
    end() {
      isMeasuring = false
      return frames.slice()
    },
    /** From the arrival of each first text until it was painted, in ms. */
    texts: () => texts.slice(),
  }
})()
