/** Uses the claim link whose token is behind the `#` of the address, which a browser sends to no server. */

const button = document.querySelector('button')
const failure = document.querySelector('#failure')
const token = location.hash.slice(1)
const url = new URL('.', location.href).href.replace(/\/$/, '')

if (token) button.disabled = false
else
  show(
    failure,
    'This address is not complete: open all of the address that the deployment printed, with what follows the #.',
  )

// Another link in the same tab changes only what follows the #, which loads nothing.
addEventListener('hashchange', () => location.reload())

button.addEventListener('click', async () => {
  button.disabled = true
  failure.hidden = true
  try {
    const response = await fetch('claim', { method: 'POST', headers: { Authorization: `Bearer ${token}` } })
    const answer = await response.json()
    if (response.ok) return showKey(answer)
    button.disabled = response.status === 404 || response.status === 410
    show(failure, answer.error)
  } catch {
    button.disabled = false
    show(failure, 'The service did not answer. Press the button again; if the link was used, this page says so.')
  }
})

function showKey({ apiKey, organizationId }) {
  document.querySelector('#intro').hidden = true
  document.querySelector('#key').textContent = apiKey
  document.querySelector('#organization').textContent = organizationId
  document.querySelector('#try').textContent =
    `export WORKSPACE_URL=${url} WORKSPACE_API_KEY=…\ncurl "$WORKSPACE_URL/v1/me" -H "Authorization: Bearer $WORKSPACE_API_KEY"`
  const result = document.querySelector('#result')
  result.hidden = false
  result.querySelector('h2').focus()
}

document.querySelector('#copy').addEventListener('click', async ({ target }) => {
  await navigator.clipboard.writeText(document.querySelector('#key').textContent)
  target.textContent = 'Copied'
})

function show(element, text) {
  element.textContent = text
  element.hidden = false
}
