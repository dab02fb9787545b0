/** Ends all sessions of the person who is signed in, this one too. */
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Confirm } from '../components/confirm.tsx'
import { queryClient } from '../connection.ts'
import { signOut } from '../session.ts'
import { signOutEverywhere } from './data.ts'

export function SignOutEverywhere() {
  const [isAsked, setIsAsked] = useState(false)
  const navigate = useNavigate()
  return (
    <>
      <button type="button" onClick={() => setIsAsked(true)}>
        Sign out everywhere
      </button>
      {isAsked && (
        <Confirm
          title="Sign out everywhere?"
          verb="Sign out"
          act={async () => {
            await signOutEverywhere()
            // Its session has ended already: the cookie goes.
            await signOut()
            await navigate({ to: '/sign-in' })
            queryClient.clear()
          }}
          onClose={() => setIsAsked(false)}
        >
          All your sign-ins end, in this browser and in every other. API keys and connected apps stay.
        </Confirm>
      )}
    </>
  )
}
