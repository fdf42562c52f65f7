/**
 * Which certificates https accepts, and which one it presents.
 *
 * Accepted are the authorities that come with Node, those of the system (`SSL_CERT_FILE` and `SSL_CERT_DIR`
 * name other places for them, as for OpenSSL), and those of `--ca`. A client certificate is presented to every
 * server that requests one.
 */

import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext, getCACertificates, type SecureContext } from "node:tls";
import { visible } from "../base/visible.ts";
import { textOf } from "./failure.ts";

interface TrustFiles {
  readonly caFile: string | undefined;
  readonly clientCertFile: string | undefined;
  /** Not necessary if the file of the certificate contains the key too. */
  readonly clientKeyFile: string | undefined;
}

export const NO_TRUST_FILES: TrustFiles = {
  caFile: undefined,
  clientCertFile: undefined,
  clientKeyFile: undefined,
};

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;
const ANY_KEY = /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----/;

/** What is wrong with the files, each with its flag and the remedy; empty when all can be used. */
export function trustMistakes({ caFile, clientCertFile, clientKeyFile }: TrustFiles): string[] {
  const found: string[] = [];
  const check = (flag: string, file: string | undefined, why: (text: string) => string): void => {
    if (file === undefined) return;
    const text = readPem(file);
    const fault = typeof text === "string" ? why(text) : text.fault;
    if (fault !== "") found.push(`${flag} ${visible(file, 200)}: ${fault}`);
  };
  check("--ca", caFile, certificateFault);
  check("--client-cert", clientCertFile, certificateFault);
  if (clientCertFile === undefined) {
    if (clientKeyFile !== undefined) found.push("--client-key needs --client-cert with it");
    return found;
  }
  const [flag, file] =
    clientKeyFile === undefined
      ? ["--client-cert", clientCertFile]
      : ["--client-key", clientKeyFile];
  if (found.length === 0) check(flag, file, (text) => keyFault(text, clientCertFile));
  return found;
}

/** Made when it is first needed: reading the system's store takes about 50 ms. */
export function trustOf(files: TrustFiles): () => SecureContext {
  let made: SecureContext | undefined;
  return () => (made ??= contextOf(files));
}

function contextOf({
  caFile,
  clientCertFile,
  clientKeyFile = clientCertFile,
}: TrustFiles): SecureContext {
  const usual = getCACertificates("default");
  const all = new Set([...usual, ...getCACertificates("system"), ...certificatesIn(caFile)]);
  return createSecureContext({
    // Node's own list is kept parsed; a list of ours takes about 20 ms.
    ...(all.size === usual.length ? {} : { ca: [...all] }),
    // An intermediate authority in --ca is enough, as for curl.
    allowPartialTrustChain: caFile !== undefined,
    ...(clientCertFile === undefined || clientKeyFile === undefined
      ? {}
      : { cert: readFileSync(clientCertFile), key: readFileSync(clientKeyFile) }),
  });
}

function certificatesIn(file: string | undefined): readonly string[] {
  return file === undefined ? [] : (readFileSync(file, "latin1").match(CERTIFICATE) ?? []);
}

function readPem(file: string): string | { readonly fault: string } {
  try {
    return readFileSync(file, "latin1");
  } catch (error) {
    return { fault: `cannot be read: ${textOf(error)}` };
  }
}

function certificateFault(text: string): string {
  const found = text.match(CERTIFICATE);
  if (found === null)
    return "contains no certificate in PEM form (-----BEGIN CERTIFICATE-----); `openssl x509 -inform der -in FILE` converts one from DER";
  for (const [index, pem] of found.entries()) {
    try {
      new X509Certificate(pem);
    } catch (error) {
      return `its certificate ${index + 1} is damaged: ${textOf(error)}`;
    }
  }
  return "";
}

function keyFault(text: string, certFile: string): string {
  if (!ANY_KEY.test(text))
    return "contains no private key in PEM form; name its file with --client-key";
  try {
    const key = createPrivateKey(text);
    const certificate = new X509Certificate(readFileSync(certFile));
    return certificate.checkPrivateKey(key)
      ? ""
      : `is not the key of the certificate in ${visible(certFile, 200)}`;
  } catch (error) {
    if (/passphrase|interrupted or cancelled/i.test(textOf(error)))
      return "is encrypted; `openssl pkey -in FILE -out NEW` writes it without passphrase";
    return `cannot be used: ${textOf(error)}`;
  }
}
