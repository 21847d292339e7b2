// Package oauth logs in at MCP servers that are reached over HTTP, as the revisions
// 2025-11-25 and 2026-07-28 of the protocol say (OAuth 2.1 with RFC 9728, 8414, 8707,
// 9207, 7591), and at those of 2025-03-26, which name no authorization server.
//
// [Login] asks the user for consent in a browser and keeps what comes of it in a
// [Store]; an [Authorizer] takes it from there for each request and renews it in
// time. Several programs may share a store: a credential is renewed by one of them,
// and the others see it. What was granted by one authorization server is never sent
// to another.
//
// There is no login without a user (client_credentials) and none with a private key
// (private_key_jwt). No token, code or secret is in an error or a log line of this
// package.
package oauth
