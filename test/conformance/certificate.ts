/** Certificates that openssl makes and nobody trusts unless told to. */

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

/** A certificate and its key: files in PEM. */
export interface Certificate {
  readonly cert: string
  readonly key: string
}

/**
 * Makes one that is valid for two days.
 *
 * @param name  what it is for, such as `DNS:play.example` or `IP:127.0.0.1`
 * @throws Error where openssl is missing
 */
export function makeCertificate(folder: string, name: string): Certificate {
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const subject = ['-subj', '/CN=holdfast', '-addext', `subjectAltName=${name}`]
  const words = ['req', '-x509', ...curve, '-days', '2', ...subject]
  execFileSync('openssl', [...words, '-keyout', files.key, '-out', files.cert], { stdio: 'ignore' })
  return files
}
