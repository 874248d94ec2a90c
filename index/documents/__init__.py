"""Texts, passage trees and what is known about files, in a SQL database."""
