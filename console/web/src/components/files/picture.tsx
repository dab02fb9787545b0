/** A picture of an agent. In an `<img>`, the scripts and the links of an SVG picture do nothing. */
import { useEffect, useMemo, useState } from 'react'
import { Empty, Skeleton } from '../note.tsx'
import { mayBeHuge, SVG } from './content.ts'
import styles from './file.module.css'

interface PictureProps {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly type: string
  readonly name: string
}

export function Picture({ bytes, type, name }: PictureProps) {
  const [url, setUrl] = useState<string>()
  const [isBroken, setIsBroken] = useState(false)
  const [isWanted, setIsWanted] = useState(false)
  const isHeld = useMemo(() => type === SVG && mayBeHuge(bytes), [bytes, type]) && !isWanted
  useEffect(() => {
    if (isHeld) return
    const made = URL.createObjectURL(new Blob([bytes], { type }))
    setUrl(made)
    setIsBroken(false)
    return () => URL.revokeObjectURL(made)
  }, [bytes, type, isHeld])
  if (isHeld) {
    return (
      <Empty title="This picture could keep the browser busy">
        <p>It is made of copies or of other pictures.</p>
        <button type="button" onClick={() => setIsWanted(true)}>
          Show it
        </button>
      </Empty>
    )
  }
  if (!url) return <Skeleton />
  if (isBroken) return <Empty title="The browser cannot show this picture">Download it to look at its bytes.</Empty>
  return (
    <div className={styles.picture}>
      <img src={url} alt={name} onError={() => setIsBroken(true)} />
    </div>
  )
}
